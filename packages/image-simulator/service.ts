import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { FaultKind } from './behaviour.ts';

/** A request to a simulated service. */
export type Received = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

/** The pictures that a request asks for. */
export type Order = { prompt: string; width: number; height: number; count: number; hasImage: boolean };

/** What a service does with a request: draws pictures, answers something else, or refuses. */
type Reading =
  | { readonly order: Order; readonly answer: (pictures: readonly Picture[], fault: FaultKind | null) => unknown }
  | { readonly status: number; readonly answer: unknown; readonly isRefused?: boolean };

/** A picture as an answer has it: its bytes, or the address where the simulator serves it. */
export type Picture = { readonly b64_json: string } | { readonly url: string };

/** The protocol of one service. */
export type Service = {
  readonly name: string;
  matches(request: Received): boolean;
  /** `key` is the key that the request must have. */
  read(request: Received, key: string): Reading;
  /** The answer of a fault of the service, of too many requests, and of a prompt that is refused. */
  refusal(reason: Refusal): { status: number; answer: unknown };
  /** True: the pictures always have addresses. */
  readonly answersUrls?: boolean;
};

export type Refusal = 'error' | 'rate_limit' | 'policy';

/** Sides beyond this are not drawn. */
const maxSide = 4_096;

/** The sides in `1024x768`, `1024*768` or `1024:768`. 1024 x 1024 for anything else. */
export function sidesIn(size: unknown): { width: number; height: number } {
  const found = /^(\d{1,4})[x*:](\d{1,4})$/.exec(String(size ?? ''));
  const side = (text: string | undefined) => Math.min(maxSide, Math.max(16, Number(text ?? 1_024)));
  return { width: side(found?.[1]), height: side(found?.[2]) };
}

export const countIn = (value: unknown): number => Math.min(10, Math.max(1, Math.trunc(Number(value ?? 1)) || 1));

/** The JSON object of a body; empty when it is something else. */
export function jsonIn(body: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Tasks that a service remembers. */
const maxTasks = 200;

type Task = { readonly pictures: readonly Picture[]; readonly fault: FaultKind | null; asked: number };

/** How a task answers a question for its end. The first question always finds it running. */
type TaskState = 'running' | 'busy' | 'failed' | 'refused' | 'done';

/** The tasks of a service. They are not kept after the end of the process. */
export function openTasks() {
  const tasks = new Map<string, Task>();
  return {
    /** Remembers a task. Returns its id. */
    add(pictures: readonly Picture[], fault: FaultKind | null): string {
      const id = randomUUID();
      tasks.set(id, { pictures, fault, asked: 0 });
      if (tasks.size > maxTasks) tasks.delete(tasks.keys().next().value!);
      return id;
    },
    /** The state of a task for its next question; undefined when it is not known. */
    ask(id: string): { state: TaskState; pictures: readonly Picture[] } | undefined {
      const task = tasks.get(id);
      if (!task) return undefined;
      task.asked += 1;
      const { pictures, fault, asked } = task;
      if (asked === 1) return { state: fault === 'task_busy' ? 'busy' : 'running', pictures };
      if (fault === 'task_endless') return { state: 'running', pictures };
      if (fault === 'task_failed') return { state: 'failed', pictures };
      return { state: fault === 'task_policy' ? 'refused' : 'done', pictures };
    },
  };
}
