import { connect } from 'node:net';
import { type Finding, findingsOf, messageOf } from '@tradepost/module';
import type { Config, ServerProcess } from '@tradepost/runtime';
import { runningServer } from '@tradepost/terminal';
import { instanceAt } from './instance-at.ts';

/** Whether a program accepts connections on this port. */
function isListening(host: string, port: number): Promise<boolean> {
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

/**
 * Checks the port and the instance that serves this data. Binds no port. `processes` are those that are connected to
 * the database, or null when they are not known.
 */
export async function checkNetwork(config: Config, processes: readonly ServerProcess[] | null): Promise<Finding[]> {
  const { findings, ok, note, warning, error } = findingsOf('network');
  if (!config.only.includes('api')) return findings;
  const instance = await runningServer(config.data);
  const host = ['0.0.0.0', '::'].includes(config.host) ? '127.0.0.1' : config.host;
  if (instance) {
    try {
      const ready = await answerOf(instance.url, '/ready');
      if (ready === 200) ok(`the instance on ${instance.url} (pid ${instance.pid}) is ready`);
      else
        error(
          'network/not-ready',
          `the instance on ${instance.url} (pid ${instance.pid}) is not ready (HTTP ${ready})`,
          'it starts, stops or cannot reach its database: read its log',
        );
    } catch (reason) {
      warning(
        'network/no-answer',
        `the instance on ${instance.url} (pid ${instance.pid}) does not answer: ${messageOf(reason)}`,
        'it was killed or it hangs: read its log, then start it again',
      );
    }
    if (Number(new URL(instance.url).port) === config.port) return findings;
  }
  if (config.port === 0) ok('PORT 0: the shop starts on any free port');
  else if (!(await isListening(host, config.port))) {
    // The units of systemd give each process its own port, which this command does not see.
    const isServed = processes?.some(({ roles }) => roles.includes('api')) ?? false;
    if (!instance && !isServed)
      note('network/not-running', `no program listens on ${host}:${config.port}`, 'tradepost start');
  } else {
    const url = `http://${host.includes(':') ? `[${host}]` : host}:${config.port}`;
    const health = await answerOf(url, '/health').catch(() => 0);
    const answering = health === 200 ? await instanceAt(url) : null;
    if (answering && processes === null)
      ok(`a shop answers on ${host}:${config.port}; without the database it is not known whether it is this one`);
    else if (processes?.some((one) => one.instance === answering))
      ok(`a server of this database answers on ${host}:${config.port}`);
    else if (health === 200)
      note(
        'network/other-shop',
        `a program that answers /health listens on ${host}:${config.port}`,
        'if it is a shop on other data, give this shop another --port',
      );
    else
      error(
        'network/port-in-use',
        `another program listens on ${host}:${config.port}`,
        'stop it, or give another --port',
      );
  }
  return findings;
}
