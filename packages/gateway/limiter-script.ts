import { createHash } from 'node:crypto';

/*
 * A log is one string: entries of 24 bytes (millisecond, requests so far, tokens so far), then a trailer of 48 bytes that
 * is written over by the next entry and its own trailer. As entries carry running sums, what is in the window is the
 * difference of two of them, and the place where enough has left it is found by halving. A check reads the last entry
 * with the trailer; one that is admitted writes both in one go. Entries that have left stay until half of the string is
 * such.
 *
 * Trailer: number of entries; index of the first that counts, its millisecond, requests and tokens before it; until when
 * the key lives at least. In the scripts each of these is an array over the keys, as a table for each costs too much.
 */
const shared = `
local E, L, D = 24, 72, '<ddddddddd'
local at, r, k, n, head, headAt, baseR, baseK, ttl = {}, {}, {}, {}, {}, {}, {}, {}, {}
local call = redis.call
local function entry(key, i)
  return struct.unpack('<ddd', call('GETRANGE', key, i * E, i * E + E - 1))
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
local function load(i)
  local raw = call('GETRANGE', KEYS[i], '-72', '-1')
  if #raw < L then n[i] = 0 return end
  at[i], r[i], k[i], n[i], head[i], headAt[i], baseR[i], baseK[i], ttl[i] = struct.unpack(D, raw)
end
-- Takes what has left the window off the sums; the string stays as it is.
local function expire(i, limit)
  if at[i] <= limit then n[i] = 0 return end
  local key = KEYS[i]
  -- Most often the next one counts.
  local t, q, m = entry(key, head[i])
  local j = head[i] + 1
  local next = entry(key, j)
  if next <= limit then
    j = search(key, j + 1, n[i] - 1, 1, limit + 1)
    t, q, m = entry(key, j - 1)
    next = entry(key, j)
  end
  head[i], headAt[i], baseR[i], baseK[i] = j, next, q, m
end
`;

/** The server's time in whole milliseconds; tests give their own as the last argument. */
const clocks = {
  server: `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`,
  argument: 'local now = tonumber(ARGV[#ARGV])',
} as const;

export type ScriptClock = keyof typeof clocks;

/** A clock that went back less than a window waits; one that went back further has left logs of another time behind. */
const loadAll = `
local latest = now
for i = 1, #KEYS do
  load(i)
  if n[i] > 0 then
    if at[i] > now + window then n[i] = 0 elseif at[i] > latest then latest = at[i] end
  end
end
now = latest
for i = 1, #KEYS do
  if n[i] > 0 and headAt[i] <= now - window then expire(i, now - window) end
end
`;

/**
 * Checks and charges one request after the other. KEYS: the logs, each once. ARGV[1]: a JSON list of numbers: the window;
 * requests and tokens limit of each key (0: unlimited); then per request its tokens, how many keys it has, and which.
 *
 * Answers a list of numbers: now; the oldest millisecond of each key that counts afterwards; then per request 1 and for
 * each of its keys requests and tokens with this request; or 0 and for each of its keys the wait for requests and the
 * wait for tokens in ms (-1: not exceeded, -2: never), with nothing charged.
 *
 * A key is read and written once for all requests of a call: what is charged in one millisecond is one entry anyway.
 */
const check = (clock: ScriptClock) => `${shared}
local A = cjson.decode(ARGV[1])
${clocks[clock]}
local window, keys = A[1], #KEYS
${loadAll}
-- What is stored; beyond it is what this call adds.
local storedR, storedK = {}, {}
local life = string.format('%d', 2 * window)
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
  if n[i] == 0 then baseR[i], baseK[i], r[i], k[i] = 0, 0, 0, 0 end
  storedR[i], storedK[i] = r[i], k[i]
end
local function wait(i, field, stored, target)
  if target > stored then return window end
  return entry(KEYS[i], search(KEYS[i], head[i], n[i] - 1, field, target)) + window - now
end
local answer, size = { now }, 1 + keys
for i = 1, keys do answer[1 + i] = 0 end
local p, last = 2 + 2 * keys, #A
while p <= last do
  local tokens, upto, refused = A[p], p + 1 + A[p + 1], false
  for j = p + 2, upto do
    local i = A[j]
    local rpm, tpm = A[2 * i], A[2 * i + 1]
    if (rpm > 0 and r[i] - baseR[i] >= rpm) or (tpm > 0 and k[i] - baseK[i] + tokens > tpm) then
      refused = true
      break
    end
  end
  size = size + 1
  if refused then
    answer[size] = 0
    for j = p + 2, upto do
      local i = A[j]
      local rpm, tpm, waitR, waitK = A[2 * i], A[2 * i + 1], -1, -1
      local over = r[i] - baseR[i] + 1 - rpm
      if rpm > 0 and over > 0 then waitR = wait(i, 2, storedR[i], baseR[i] + over) end
      over = k[i] - baseK[i] + tokens - tpm
      if tpm > 0 and over > 0 then
        if tokens > tpm then waitK = -2 else waitK = wait(i, 3, storedK[i], baseK[i] + over) end
      end
      answer[size + 1], answer[size + 2] = waitR, waitK
      size = size + 2
    end
  else
    answer[size] = 1
    for j = p + 2, upto do
      local i = A[j]
      local q, m = r[i] + 1, k[i] + tokens
      r[i], k[i] = q, m
      answer[size + 1], answer[size + 2] = q - baseR[i], m - baseK[i]
      size = size + 2
    end
  end
  p = upto + 1
end
for i = 1, keys do
  local key = KEYS[i]
  if r[i] > storedR[i] then
    if n[i] == 0 then
      call('SET', key, struct.pack(D, now, r[i], k[i], 1, 0, now, 0, 0, now + 2 * window), 'PX', life)
      headAt[i], n[i] = now, 1
    else
      local count, first, upto = n[i], head[i], ttl[i]
      if at[i] < now then count = count + 1 end
      if first >= 64 and first * 2 >= count then
        local kept = call('GETRANGE', key, first * E, (count - 1) * E - 1)
        local moved = struct.pack(D, now, r[i], k[i], count - first, 0, headAt[i], baseR[i], baseK[i], now + 2 * window)
        call('SET', key, kept .. moved, 'PX', life)
      else
        local late = upto < now + window
        if late then upto = now + 2 * window end
        call('SETRANGE', key, place(count), struct.pack(D, now, r[i], k[i], count, first, headAt[i], baseR[i], baseK[i], upto))
        if late then call('PEXPIRE', key, life) end
      end
    end
  end
  answer[1 + i] = n[i] == 0 and now or headAt[i]
end
return answer`;

/**
 * Takes one charge back (cluster only). KEYS: logs charged together. ARGV: millisecond of the charge, tokens. The sums of
 * what came since are lowered; the entry of that millisecond stays with what is left in it. Answers how many it found.
 */
const takeBack = `${shared}
local when, tokens, found = tonumber(ARGV[1]), tonumber(ARGV[2]), 0
for i = 1, #KEYS do
  local key = KEYS[i]
  load(i)
  if n[i] > 0 and at[i] >= when and headAt[i] <= when then
    local from = search(key, head[i], n[i] - 1, 1, when)
    if entry(key, from) == when then
      found = found + 1
      local parts = {}
      for j = from, n[i] - 1 do
        local t, q, m = entry(key, j)
        parts[#parts + 1] = struct.pack('<ddd', t, q - 1, m - tokens)
      end
      if r[i] - 1 == baseR[i] then call('DEL', key)
      else
        parts[#parts + 1] = struct.pack('<dddddd', n[i], head[i], headAt[i], baseR[i], baseK[i], ttl[i])
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
if n[1] == 0 then return { now, 0, 0, -1 } end
return { now, r[1] - baseR[1], k[1] - baseK[1], headAt[1] }`;

export type Script = { readonly source: string; readonly sha: string };
const script = (source: string): Script => ({ source, sha: createHash('sha1').update(source).digest('hex') });

export const limiterScripts = (clock: ScriptClock = 'server') => ({
  check: script(check(clock)),
  takeBack: script(takeBack),
  look: script(look(clock)),
});
