import { createHash } from 'node:crypto';

/*
 * A log is one string: entries of 24 bytes (millisecond, requests so far, tokens so far), then a trailer of 48 bytes that
 * is written over by the next entry and its own trailer. As entries carry running sums, what is in the window is the
 * difference of two of them, and the place where enough has left it is found by halving. A check reads the last entry
 * with the trailer; one that is admitted writes both in one go. Entries that have left stay until half of the string is
 * such.
 *
 * Trailer: number of entries; index of the first that counts, its millisecond, requests and tokens before it; until when
 * the key lives at least. A log that was read is a table: 1 millisecond, 2 requests, 3 tokens of the last entry, 4 number
 * of entries, 5 first that counts, 6 its millisecond, 7 requests and 8 tokens before it, 9 life; false: nothing counts.
 */
const shared = `
local E, L, D = 24, 72, '<ddddddddd'
local call, pack, unpack = redis.call, struct.pack, struct.unpack
local function entry(key, i)
  return unpack('<ddd', call('GETRANGE', key, i * E, i * E + E - 1))
end
-- The first index from lo to hi of which the field is at least v; there is one.
local function search(key, lo, hi, field, v)
  while lo < hi do
    local mid = math.floor((lo + hi) / 2)
    local t, q, m = entry(key, mid)
    local x = field == 1 and t or field == 2 and q or m
    if x >= v then hi = mid else lo = mid + 1 end
  end
  return lo
end
local function load(key)
  -- What is no string is no log either: the next charge writes over it.
  local raw = redis.pcall('GETRANGE', key, '-72', '-1')
  return #raw == L and { unpack(D, raw) }
end
-- Takes what has left the window off the sums; the string stays as it is.
local function expire(key, log, limit)
  -- Most often the next one counts.
  local t, q, m = entry(key, log[5])
  local j = log[5] + 1
  local next = entry(key, j)
  if next <= limit then
    j = search(key, j + 1, log[4] - 1, 1, limit + 1)
    t, q, m = entry(key, j - 1)
    next = entry(key, j)
  end
  log[5], log[6], log[7], log[8] = j, next, q, m
end
`;

/** The server's time in whole milliseconds; tests give their own as the last argument. */
const clocks = {
  server: `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`,
  argument: 'local now = tonumber(ARGV[#ARGV])',
} as const;

export type ScriptClock = keyof typeof clocks;

/** Stands for what is left of an unlimited dimension: sums with it are exact. */
export const unlimited = 2 ** 52;

/** A clock that went back less than a window waits; one that went back further has left logs of another time behind. */
const loadAll = `
local logs, latest, keys = {}, now, #KEYS
for i = 1, keys do
  local log = load(KEYS[i])
  if log then
    if log[1] > now + window then log = false elseif log[1] > latest then latest = log[1] end
  end
  logs[i] = log
end
now = latest
local limit = now - window
for i = 1, keys do
  local log = logs[i]
  if log then
    if log[1] <= limit then logs[i] = false elseif log[6] <= limit then expire(KEYS[i], log, limit) end
  end
end
`;

/** Puts what is left of each key into `leftR` and `leftK`, and what was left at the beginning into `hadR` and `hadK`. */
const countLeft = `
local much = ${unlimited}
local leftR, leftK, hadR, hadK = {}, {}, {}, {}
for i = 1, keys do
  local log, rpm, tpm, r, k = logs[i], A[2 * i], A[2 * i + 1], much, much
  if rpm > 0 then r = log and rpm - log[2] + log[7] or rpm end
  if tpm > 0 then k = log and tpm - log[3] + log[8] or tpm end
  leftR[i], leftK[i], hadR[i], hadK[i] = r, k, r, k
end
`;

/** Goes through the requests: charges `leftR` and `leftK`, or refuses. Fills `answer`. */
const judgeRequests = `
local function wait(i, field, over)
  local log = logs[i]
  if log then
    local target = log[field + 5] + over
    if target <= log[field] then return entry(KEYS[i], search(KEYS[i], log[5], log[4] - 1, field, target)) + window - now end
  end
  -- More must leave than is stored: what this call has charged.
  return window
end
local answer, size = { now }, 1 + keys
for i = 1, keys do answer[1 + i] = 0 end
local p, last = 2 + 2 * keys, #A
while p <= last do
  local tokens, upto, refused = A[p], p + 1 + A[p + 1], false
  for j = p + 2, upto do
    local i = A[j]
    if leftR[i] < 1 or leftK[i] < tokens then refused = true end
  end
  size = size + 1
  if refused then
    answer[size] = 0
    for j = p + 2, upto do
      local i = A[j]
      local waitR, waitK = -1, -1
      if leftR[i] < 1 then waitR = wait(i, 2, 1 - leftR[i]) end
      if leftK[i] < tokens then waitK = wait(i, 3, tokens - leftK[i]) end
      answer[size + 1], answer[size + 2] = waitR, waitK
      size = size + 2
    end
  else
    answer[size] = 1
    for j = p + 2, upto do
      local i = A[j]
      local r, k = leftR[i] - 1, leftK[i] - tokens
      leftR[i], leftK[i], answer[size + 1], answer[size + 2] = r, k, r, k
      size = size + 2
    end
  end
  p = upto + 1
end
`;

/** Writes one entry to each key that was charged, and the oldest milliseconds to `answer`. */
const writeCharges = `
-- The server's own clock may be up to a window behind now.
local life = string.format('%d', 3 * window)
-- A number given to a command is printed with 17 digits, which costs more than the command: each place is printed once.
local places = {}
local function place(count)
  local text = places[count]
  if not text then
    text = string.format('%d', (count - 1) * E)
    places[count] = text
  end
  return text
end
for i = 1, keys do
  local log, r = logs[i], hadR[i] - leftR[i]
  local oldest = log and log[6] or now
  if r > 0 then
    local key, k = KEYS[i], hadK[i] - leftK[i]
    if not log then
      call('SET', key, pack(D, now, r, k, 1, 0, now, 0, 0, now + 2 * window), 'PX', life)
    else
      local count, first, upto = log[4], log[5], log[9]
      if log[1] < now then count = count + 1 end
      r, k = log[2] + r, log[3] + k
      if first >= 64 and first * 2 >= count then
        local kept = call('GETRANGE', key, first * E, (count - 1) * E - 1)
        local moved = pack(D, now, r, k, count - first, 0, oldest, log[7], log[8], now + 2 * window)
        call('SET', key, kept .. moved, 'PX', life)
      else
        local late = upto < now + window
        if late then upto = now + 2 * window end
        call('SETRANGE', key, place(count), pack(D, now, r, k, count, first, oldest, log[7], log[8], upto))
        if late then call('PEXPIRE', key, life) end
      end
    end
  end
  answer[1 + i] = oldest
end
`;

/**
 * Checks and charges one request after the other. KEYS: the logs, each once. ARGV[1]: a JSON list of numbers: the window;
 * requests and tokens limit of each key (0: unlimited); then per request its tokens (no more than any limit), how many keys it has, and
 * which.
 *
 * Answers a list of numbers: now; the oldest millisecond of each key that counts afterwards; then per request 1 and for
 * each of its keys the requests and tokens that are left after it; or 0 and for each of its keys the wait for requests
 * and the wait for tokens in ms (-1: not exceeded), with nothing charged. What is unlimited has much left.
 *
 * A key is read and written once for all requests of a call: what is charged in one millisecond is one entry anyway.
 */
const check = (clock: ScriptClock) => `${shared}
local A = cjson.decode(ARGV[1])
${clocks[clock]}
local window = A[1]
${loadAll}${countLeft}${judgeRequests}${writeCharges}return answer`;

/**
 * Takes one charge back (cluster only). KEYS: logs charged together. ARGV: millisecond of the charge, tokens. The sums of
 * what came since are lowered; the entry of that millisecond stays with what is left in it. Answers how many it found.
 */
const takeBack = `${shared}
local when, tokens, found = tonumber(ARGV[1]), tonumber(ARGV[2]), 0
for i = 1, #KEYS do
  local key = KEYS[i]
  local log = load(key)
  if log and log[1] >= when and log[6] <= when then
    local from = search(key, log[5], log[4] - 1, 1, when)
    if entry(key, from) == when then
      found = found + 1
      local parts = {}
      for j = from, log[4] - 1 do
        local t, q, m = entry(key, j)
        parts[#parts + 1] = pack('<ddd', t, q - 1, m - tokens)
      end
      if log[2] - 1 == log[7] then call('DEL', key)
      else
        parts[#parts + 1] = pack('<dddddd', log[4], log[5], log[6], log[7], log[8], log[9])
        call('SETRANGE', key, from * E, table.concat(parts))
      end
    end
  end
end
return found`;

/** KEYS: one log. ARGV: window. Answers now, requests, tokens and the millisecond of the oldest entry (-1: none). */
const look = (clock: ScriptClock) => `${shared}
${clocks[clock]}
local window = tonumber(ARGV[1])
${loadAll}
local log = logs[1]
if not log then return { now, 0, 0, -1 } end
return { now, log[2] - log[7], log[3] - log[8], log[6] }`;

export type Script = { readonly source: string; readonly sha: string };
const script = (source: string): Script => ({ source, sha: createHash('sha1').update(source).digest('hex') });

export const limiterScripts = (clock: ScriptClock = 'server') => ({
  check: script(check(clock)),
  takeBack: script(takeBack),
  look: script(look(clock)),
});
