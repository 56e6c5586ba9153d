type Handler = (a: never, b: never, c: never) => unknown;

/**
 * The handlers of a uWS app. uWS keeps them until the process ends, also after the app was closed. `hold` returns a handler that
 * calls `handler` until `release`, and then holds nothing: a process that opens and closes many servers does not keep them all.
 */
export function openHandlers() {
  let held: Handler[] = [];
  return {
    hold<H extends Handler>(handler: H): H {
      const index = held.push(handler) - 1;
      // No handler of uWS has more than three arguments. Rest arguments would cost time in every request.
      const forward: Handler = (a, b, c) => held[index]?.(a, b, c);
      return forward as H;
    },
    release(): void {
      held = [];
    },
  };
}
export type Handlers = ReturnType<typeof openHandlers>;
