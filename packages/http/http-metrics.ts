import { defineMetrics } from '@tradepost/runtime';

export const httpMetrics = defineMetrics(({ counter, gauge, histogram }) => ({
  requests: counter({
    name: 'http_requests_total',
    help: 'Requests answered, by route, method and envelope code',
    labelNames: ['method', 'route', 'code'],
  }),
  requestSeconds: histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request to its answer',
    labelNames: ['method', 'route'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  }),
  bodyBytes: gauge({
    name: 'http_body_buffer_bytes',
    help: 'Memory of request bodies that arrive or wait for their handler, by port: api or gateway',
    labelNames: ['port'],
    flushed: true,
  }),
  bodiesRefused: counter({
    name: 'http_bodies_refused_total',
    help: 'Request bodies refused, by port and reason: too_large (413) or no_memory (503)',
    labelNames: ['port', 'reason'],
    flushed: true,
  }),
  files: counter({
    name: 'http_files_total',
    help: 'Files that routes sent while they made them, by outcome: complete, left (the client) or cut (an error, or too slow)',
    labelNames: ['outcome'],
  }),
  sockets: gauge({
    name: 'websocket_open_sockets',
    help: 'Open WebSockets of this process, those in their handshake included, by channel',
    labelNames: ['channel'],
    flushed: true,
  }),
  socketFrames: counter({
    name: 'websocket_frames_total',
    help: 'WebSocket messages by channel and direction: in, out or dropped (the queue of a slow reader was full)',
    labelNames: ['channel', 'direction'],
    flushed: true,
  }),
  socketCloses: counter({
    name: 'websocket_closes_total',
    help: 'WebSockets that ended, by channel, close code and reason; client: the peer closed, channel: a handler did',
    labelNames: ['channel', 'code', 'reason'],
  }),
}));
