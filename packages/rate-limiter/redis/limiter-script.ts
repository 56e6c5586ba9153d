import { createHash } from 'node:crypto';

/*
 * A log is one string: entries of 24 bytes (millisecond, running sum of requests, running sum of tokens), then a trailer of
 * 48 bytes. The next entry overwrites the trailer and appends a new one. The content of the window is the difference of two
 * running sums. A binary search finds the entry at which enough has left the window. A check reads the last entry with the
 * trailer. An admitted request writes both with one command. Expired entries are cut off when they are half of the string.
 *
 * Trailer: number of entries; index, millisecond, and the sums of requests and tokens before the first entry that counts; the
 * earliest time at which the key expires. `load` returns a log as a table: 1 millisecond, 2 requests, 3 tokens of the last
 * entry; 4 number of entries; 5 index of the first entry that counts, 6 its millisecond, 7 requests and 8 tokens before it;
 * 9 expiry. It returns false when no entry counts.
 */
const shared = `
local E, L, D = 24, 72, '<ddddddddd'
local call, pack, unpack = redis.call, struct.pack, struct.unpack
local function entry(key, i)
  return unpack('<ddd', call('GETRANGE', key, i * E, i * E + E - 1))
end
-- Returns the first index from lo to hi whose field is at least v. Such an index must exist.
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
  -- A value that is not a log counts as empty. The next charge overwrites it.
  local raw = redis.pcall('GETRANGE', key, '-72', '-1')
  return #raw == L and { unpack(D, raw) }
end
-- Moves the first counting entry behind the expired ones. Does not write the string.
local function expire(key, log, limit)
  -- In most cases the next entry counts.
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

/** The time of the server in whole milliseconds. Tests pass a time as the last argument. */
const clocks = {
  server: `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`,
  argument: 'local now = tonumber(ARGV[#ARGV])',
} as const;

export type ScriptClock = keyof typeof clocks;

/** The remaining amount of an unlimited dimension. Sums with it are exact. */
export const unlimited = 2 ** 52;

/**
 * Loads all logs. When the clock went back by less than a window, the time stays at the newest entry. A log from further in the
 * future counts as empty.
 */
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

/** Fills `leftR` and `leftK` with the remaining requests and tokens of each key; `hadR` and `hadK` keep the values from before the call. */
const countLeft = `
local unlimited = ${unlimited}
local leftR, leftK, hadR, hadK = {}, {}, {}, {}
for i = 1, keys do
  local log, rpm, tpm, r, k = logs[i], A[2 * i], A[2 * i + 1], unlimited, unlimited
  if rpm > 0 then r = log and rpm - log[2] + log[7] or rpm end
  if tpm > 0 then k = log and tpm - log[3] + log[8] or tpm end
  leftR[i], leftK[i], hadR[i], hadK[i] = r, k, r, k
end
`;

/** Decides the requests in their order: reduces `leftR` and `leftK`, or refuses. Fills `answer`. */
const decideRequests = `
local function wait(i, field, over)
  local log = logs[i]
  if log then
    local target = log[field + 5] + over
    if target <= log[field] then return entry(KEYS[i], search(KEYS[i], log[5], log[4] - 1, field, target)) + window - now end
  end
  -- The stored entries are not enough: charges of this call must leave the window too.
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
-- The clock of the server may be up to a window behind now.
local life = string.format('%d', 3 * window)
-- Redis prints a number argument with 17 digits, which costs more than the command. So each offset is printed once.
local offsets = {}
local function offset(count)
  local text = offsets[count]
  if not text then
    text = string.format('%d', (count - 1) * E)
    offsets[count] = text
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
        call('SETRANGE', key, offset(count), pack(D, now, r, k, count, first, oldest, log[7], log[8], upto))
        if late then call('PEXPIRE', key, life) end
      end
    end
  end
  answer[1 + i] = oldest
end
`;

/**
 * Checks and charges requests in their order. KEYS: the logs, each once. ARGV[1]: a JSON list of numbers: the window; the
 * requests limit and tokens limit of each key (0: unlimited); then for each request its tokens (at most the smallest
 * tokens limit), the number of its keys, and their indexes.
 *
 * Returns a list of numbers: now; for each key the millisecond of its oldest counting entry; then for each request either 1
 * and per key the remaining requests and tokens, or 0 and per key the wait for requests and the wait for tokens in
 * milliseconds (-1: not exceeded). A refused request charges nothing. An unlimited dimension has `unlimited` remaining.
 *
 * Each key is read and written once per call: charges of one millisecond share an entry.
 */
const check = (clock: ScriptClock) => `${shared}
local A = cjson.decode(ARGV[1])
${clocks[clock]}
local window = A[1]
${loadAll}${countLeft}${decideRequests}${writeCharges}return answer`;

/**
 * Undoes one charge (cluster only). KEYS: the logs that were charged together. ARGV: millisecond of the charge, tokens. Lowers
 * the running sums from that millisecond on. Returns the number of logs in which the charge was found.
 */
const undoCharge = `${shared}
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

/** KEYS: one log. ARGV: window. Returns now, requests, tokens and the millisecond of the oldest entry (-1: no entry). */
const inspect = (clock: ScriptClock) => `${shared}
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
  undoCharge: script(undoCharge),
  inspect: script(inspect(clock)),
});
