import { clientAddress, clientNetwork, defineRoute, lineText, nothing, type Route } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { z } from 'zod';
import { maxStaySeconds, visitsPerMinute } from '../limits.ts';
import { channelOf, deviceOf, devices, isBot, pageOf } from './classify-visit.ts';
import type { Recorder } from './record-visits.ts';

const body = z.object({
  path: lineText(500).meta({ description: 'the path of the page', examples: ['/products/1'] }),
  referrer: lineText(1_000)
    .default('')
    .meta({ description: 'the page before, as the browser names it', examples: ['https://www.google.com/'] }),
  campaign: lineText(100)
    .default('')
    .meta({ description: 'the campaign that a link named, such as utm_source', examples: [''] }),
  device: z.enum(devices).optional().meta({ description: 'default: from User-Agent' }),
  stay_seconds: z
    .number()
    .min(0)
    .max(86_400)
    .optional()
    .meta({
      description: 'sent when the visitor leaves the page; a message without it opens the page',
      examples: [12],
    }),
  page_load: lineText(64)
    .default('')
    .meta({
      description: 'a random text for each page load; a repeated message counts once',
      examples: ['3f9a1c'],
    }),
});

const hostOf = (request: Request) => (request.headers.get('host') ?? '').replace(/:\d+$/, '').toLowerCase();

export const visitRoutes = (runtime: Runtime, recorder: Recorder): Route[] => {
  const { store, config, log } = runtime;

  /** Whether the network may send another visit in this minute. */
  const isAllowed = async (network: string) => (await store.increment(`visits:${network}`, 60_000)) <= visitsPerMinute;

  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/visits',
      auth: 'public',
      bodyLimit: 4_096,
      tag: 'Site',
      summary: 'Report that a page was opened, or left after some seconds',
      description:
        'Storefronts may send it. It stores counters of the day and no personal data. Programs such as crawlers, messages above the limit of a network and repeated messages are answered in the same way and are not counted.',
      body,
      response: nothing,
      repeat: 'natural',
      // The salt of a new day, and the visit.
      statements: 3,
      async handle({ body: visit, request }) {
        const userAgent = (request.headers.get('user-agent') ?? '').slice(0, 500);
        if (isBot(userAgent)) return null;
        const address = clientAddress(request, config.trustedProxies);
        const isLeaving = visit.stay_seconds !== undefined;
        try {
          if (!(await isAllowed(clientNetwork(address)))) return null;
          if (visit.page_load !== '' && !recorder.isFirst(`${isLeaving} ${address} ${visit.page_load}`)) return null;
          await recorder.record(
            {
              page: pageOf(visit.path),
              channel: channelOf({ ...visit, ownHost: hostOf(request) }),
              device: visit.device ?? deviceOf(userAgent),
              stay: isLeaving ? Math.round(Math.min(visit.stay_seconds!, maxStaySeconds)) : null,
            },
            `${address} ${userAgent}`,
          );
        } catch (error) {
          // A page is not disturbed by a visit that cannot be counted.
          log.debug({ err: error }, 'a visit was not counted');
        }
        return null;
      },
    }),
  ];
};
