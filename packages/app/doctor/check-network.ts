import { connect } from 'node:net';
import { type Finding, findingsOf, messageOf } from '@tradepost/module';
import type { Config } from '@tradepost/runtime';
import { runningServer } from '@tradepost/terminal';

/** Whether somebody listens there. */
function taken(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 2_000 });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });
}

async function answerOf(url: string, path: string): Promise<number> {
  const response = await fetch(new URL(path, url), { signal: AbortSignal.timeout(5_000) });
  await response.body?.cancel();
  return response.status;
}

/** The port, and the instance that serves this data. Nothing is bound. */
export async function checkNetwork(config: Config): Promise<Finding[]> {
  const { findings, ok, note, warning, error } = findingsOf('network');
  if (!config.only.includes('api')) return findings;
  const instance = await runningServer(config.data);
  const host = ['0.0.0.0', '::'].includes(config.host) ? '127.0.0.1' : config.host;
  if (instance) {
    try {
      const ready = await answerOf(instance.url, '/ready');
      if (ready === 200) ok(`serving on ${instance.url} (pid ${instance.pid}), and ready`);
      else
        error(
          `the instance on ${instance.url} (pid ${instance.pid}) is not ready (HTTP ${ready})`,
          'it can not reach its database or its store: see its log',
        );
    } catch (reason) {
      warning(
        `an instance was on ${instance.url} (pid ${instance.pid}), and does not answer: ${messageOf(reason)}`,
        'it was killed or hangs: look at its log, then start again',
      );
    }
    if (Number(new URL(instance.url).port) === config.port) return findings;
  }
  if (config.port === 0) ok('PORT 0: a start takes any free port');
  else if (!(await taken(host, config.port))) {
    if (!instance) note(`nothing listens on ${host}:${config.port}`, 'tradepost start');
  } else {
    const health = await answerOf(`http://${host}:${config.port}`, '/health').catch(() => 0);
    if (health === 200)
      note(
        `something that answers /health listens on ${host}:${config.port}`,
        'if that is this shop on other data, give this one another --port',
      );
    else error(`another program listens on ${host}:${config.port}`, 'stop it, or give another --port');
  }
  return findings;
}
