"""What the memory writes, each at once or not at all: scripts for Redis."""

# Everything a given answer changes, or nothing. Returns the historical quality, which only the log
# inside the transaction knows; it is kept beside the answer's bytes.
REMEMBER = """
local answer, answers, turns, quality, learned, claim = unpack(KEYS)
local id, body, turn, confidence, entry, ttl, log_length = unpack(ARGV)
local turns_length, held, answered = unpack(ARGV, 8)
redis.call('RPUSH', quality, confidence)
redis.call('LTRIM', quality, -log_length, -1)
local log = redis.call('LRANGE', quality, 0, -1)
local sum = 0
for _, value in ipairs(log) do sum = sum + tonumber(value) end
local mean = string.format('%.17g', sum / #log)
redis.call('HSET', answer, 'body', body, 'historical_quality', mean)
redis.call('RPUSH', answers, id)
redis.call('LTRIM', answers, -log_length, -1)
redis.call('RPUSH', turns, turn)
redis.call('LTRIM', turns, -turns_length, -1)
if entry ~= '' then
  redis.call('RPUSH', learned, entry)
  redis.call('LTRIM', learned, -log_length, -1)
end
for _, key in ipairs({answer, answers, turns, quality, learned}) do
  redis.call('EXPIRE', key, ttl)
end
if claim and redis.call('GET', claim) == held then redis.call('SET', claim, answered, 'EX', ttl) end
return mean
"""

# What a tenant's answers teach is kept apart: it may lie on another node of a cluster.
LEARN = """
redis.call('RPUSH', KEYS[1], ARGV[1])
redis.call('LTRIM', KEYS[1], -ARGV[2], -1)
redis.call('EXPIRE', KEYS[1], ARGV[3])
"""

# The list of a subject's conversations; those that have expired, or are one too many, leave it. The
# store's own clock orders them, so that no two are answered at the same moment.
NOTE = """
local held, questions = unpack(KEYS)
local id, question, ttl, most = unpack(ARGV)
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
redis.call('ZADD', held, now, id)
redis.call('HSETNX', questions, id, question)
local gone = redis.call('ZRANGEBYSCORE', held, '-inf', now - ttl * 1000000)
local over = redis.call('ZCARD', held) - most
if over > 0 then
  for _, old in ipairs(redis.call('ZRANGE', held, 0, over - 1)) do gone[#gone + 1] = old end
end
for _, old in ipairs(gone) do
  redis.call('ZREM', held, old)
  redis.call('HDEL', questions, old)
end
for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, ttl) end
"""

RELEASE = """
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""
