"""The environment of a script: Lua's safe functions, the kube library, the script's arguments, and the limits.

The prelude is Lua and runs once in a state. It answers with one function, which runs a script's function and returns
its results as JSON text: only text crosses between Lua and Python. Each script's globals are tables of its own, so it
reaches nothing else - not the instruction hook, and no trace of the script before it.

* Karmada disables some functions of Lua's base library: they raise an error here, too.
* A number becomes text as in Karmada's engine, but where ``..`` or ``table.concat`` joins it to text, which is up to
  Lua: a whole one without an exponent, another with all digits that tell it from its neighbours.
* An answer must not depend on when or where it is found: there is no clock and no chance, ``pairs`` and ``next`` go
  through keys in order, and a table prints as ``table``.
"""

from .strings import STRINGS

LIMITS = r"""
local call, STEPS, SECONDS, MOST_MEMORY = ...
local LONGEST_STRING = 2 ^ 22
local EVERY, EXHAUSTED = 100, "the script ran too long"
local next_of, sort, protected = next, table.sort, pcall
local load, clock, sethook, memory_count = load, os.clock, debug.sethook, collectgarbage
local tostring_of, tonumber_of, format_of = tostring, tonumber, string.format
local exhausted = false

local function number_in_words(value)
  if value ~= value then return "NaN" end
  if value == math.huge or value == -math.huge then return value > 0 and "+Inf" or "-Inf" end
  if value % 1 == 0 and value >= -2 ^ 63 and value < 2 ^ 63 then return format_of("%.0f", value) end
  for digits = 14, 16 do
    local text = format_of("%." .. digits .. "g", value)
    if tonumber_of(text) == value then return text end
  end
  return format_of("%.17g", value)
end

local function tostring(value)
  local kind = type(value)
  if kind == "number" then return number_in_words(value) end
  if kind == "string" or kind == "boolean" or kind == "nil" then return tostring_of(value) end
  return kind
end

local function start_limits()
  local left, deadline = STEPS / EVERY, clock() + SECONDS
  exhausted = false
  sethook(function()
    left = left - 1
    if left < 0 or clock() > deadline then
      exhausted = true
      error(EXHAUSTED, 0)
    end
  end, "", EVERY)
end

local function relay(...)
  if exhausted then error(EXHAUSTED, 0) end
  return ...
end

-- A native handler would run inside the hook that stops a script, where nothing could stop the handler.
local function with_handler(handler, succeeded, ...)
  if succeeded then return true, ... end
  return false, select(2, protected(handler, ...))
end
"""

ORDER = r"""
local rank = { number = 1, string = 2, boolean = 3 }

local function less(a, b)
  local left, right = type(a), type(b)
  if left ~= right then return (rank[left] or 4) < (rank[right] or 4) end
  if rank[left] == 3 then return b and not a end
  return rank[left] and a < b
end

local function ordered_keys(t)
  local keys = {}
  for key in next_of, t do keys[#keys + 1] = key end
  sort(keys, less)
  return keys
end

local function pairs(t)
  if type(t) ~= "table" then
    error("bad argument #1 to 'pairs' (table expected, got " .. type(t) .. ")", 2)
  end
  local keys, index = ordered_keys(t), 0
  return function()
    repeat index = index + 1 until keys[index] == nil or t[keys[index]] ~= nil
    return keys[index], t[keys[index]]
  end, t, nil
end

local function next(t, after)
  local least
  for key in next_of, t do
    if (after == nil or less(after, key)) and (least == nil or less(key, least)) then least = key end
  end
  if least == nil then return nil end
  return least, t[least]
end
"""

BORDER = r"""
local escapes = { ['"'] = '\\"', ['\\'] = '\\\\' }
for code = 0, 31 do escapes[string.char(code)] = string.format("\\u%04x", code) end
local DEEPEST = 150
local escape, number_text, chained = string.gsub, string.format, table.concat

local function encode(value, out, path, depth)
  local kind = type(value)
  if kind == "string" then
    out[#out + 1] = '"' .. escape(value, '[%c"\\]', escapes) .. '"'
  elseif kind == "number" then
    if value ~= value or value == math.huge or value == -math.huge then error("a number is not finite", 0) end
    local is_whole = value % 1 == 0 and value > -2 ^ 63 and value < 2 ^ 63
    out[#out + 1] = number_text(is_whole and "%.0f" or "%.17g", value)
  elseif kind == "boolean" or kind == "nil" then
    out[#out + 1] = tostring(value == nil and "null" or value)
  elseif kind ~= "table" then
    error("a " .. kind .. " is no plain data", 0)
  elseif path[value] or depth == DEEPEST then
    error("a table contains itself, or is too deep", 0)
  else
    path[value] = true
    local keys = ordered_keys(value)
    local is_list = #keys == #value and (keys[1] == nil or keys[1] == 1 and keys[#keys] == #keys)
    out[#out + 1] = is_list and "[" or "{"
    for index, key in ipairs(keys) do
      if index > 1 then out[#out + 1] = "," end
      if not is_list then
        if type(key) ~= "string" then error("a table mixes names and numbers, or has gaps", 0) end
        encode(key, out, path, depth)
        out[#out + 1] = ":"
      end
      encode(value[key], out, path, depth + 1)
    end
    out[#out + 1] = is_list and "]" or "}"
    path[value] = nil
  end
end

local function encoded(values, count)
  local out = { "[" }
  for index = 1, count do
    if index > 1 then out[#out + 1] = "," end
    encode(values[index], out, {}, 0)
  end
  out[#out + 1] = "]"
  return chained(out)
end

local function decoded(source)
  local load_values, problem = load(source, "=data", "t", {})
  if not load_values then error("the object is too large or too deep for a script", 0) end
  return load_values()
end
"""

KUBE = r"""
local function has_memory_for(text)
  return memory_count("count") * 1024 + 8 * #text < MOST_MEMORY / 2
end

local function forward(name)
  return function(...)
    local arguments = encoded({ ... }, select("#", ...))
    if not has_memory_for(arguments) then memory_count("collect") end
    if not has_memory_for(arguments) then error("not enough memory", 0) end
    local answer = call(name, arguments)
    if sub(answer, 1, 1) == "!" then error(sub(answer, 2), 2) end
    return decoded(answer)
  end
end

local kube = {
  resourceAdd = forward("resourceAdd"),
  accuratePodRequirements = forward("accuratePodRequirements"),
  getPodDependencies = forward("getPodDependencies"),
  getResourceQuantity = forward("getResourceQuantity"),
}
"""

LIBRARIES = r"""
local function copied(library, names)
  local copy = {}
  for name in string.gmatch(names, "%S+") do copy[name] = library[name] end
  return copy
end

local function refused(name, why)
  return function() error(name .. " " .. why, 2) end
end

local function seconds_of(at)
  if at == nil then error("os.time() without a date would read a clock; rendering has none", 2) end
  local year, month = at.year + math.floor((at.month - 1) / 12), (at.month - 1) % 12 + 1
  if month <= 2 then year, month = year - 1, month + 12 end
  local days = 365 * year + math.floor(year / 4) - math.floor(year / 100) + math.floor(year / 400)
  days = days + math.floor((153 * (month - 3) + 2) / 5) + at.day - 719469
  return days * 86400 + (at.hour or 12) * 3600 + (at.min or 0) * 60 + (at.sec or 0)
end

local date_of = os.date
local function date(layout, at)
  if at == nil then error("os.date() without a time would read a clock; rendering has none", 2) end
  return date_of("!" .. string.gsub(layout or "%c", "^!", ""), at)
end

local base = copied(_G, "assert error ipairs select tonumber type")
base._VERSION, base.unpack, base.print = "Lua 5.1", table.unpack, function() end
base.pairs, base.next, base.tostring = pairs, next, tostring
base.pcall = function(...) return relay(protected(...)) end
base.xpcall = function(f, handler, ...) return relay(with_handler(handler, relay(protected(f, ...)))) end
local disabled = [[collectgarbage dofile getfenv getmetatable load loadfile loadstring module newproxy rawequal rawget
    rawset setfenv setmetatable]]
for name in string.gmatch(disabled, "%S+") do base[name] = refused(name, "is disabled") end

local libraries = {
  kube = kube,
  string = copied(string, "byte char find format gmatch gsub len lower match rep reverse sub upper"),
  table = copied(table, "concat insert remove unpack"),
  math = copied(math, [[abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp huge ldexp log max min modf pi
      pow rad sin sinh sqrt tan tanh]]),
  os = { time = seconds_of, date = date },
}
libraries.table.sort = function(t, before) sort(t, before or function(a, b) return a < b end) end
libraries.table.getn = function(t) return #t end
libraries.math.mod = math.fmod
libraries.math.log10 = function(x) return math.log(x, 10) end
libraries.math.random = refused("math.random", "would make the answer a matter of chance")
libraries.math.randomseed = libraries.math.random

local function fresh(library)
  local copy = {}
  for name, value in next_of, library do copy[name] = value end
  return copy
end

local function environment()
  local env, modules = fresh(base), {}
  for name, library in next_of, libraries do modules[name] = fresh(library) end
  env._G, env.string, env.table, env.math, env.os = env, modules.string, modules.table, modules.math, modules.os
  env.require = function(name)
    return modules[name] or error("module " .. tostring(name) .. " does not exist", 2)
  end
  return env
end
"""

RUN = r"""
return function(source, name, arguments)
  local env = environment()
  getmetatable("").__index = env.string
  local script, problem = load(source, "=script", "t", env)
  if not script then return false, problem end
  local function answer()
    local values = table.pack(decoded(arguments))
    script()
    if type(env[name]) ~= "function" then error("it defines no function " .. name, 0) end
    values = table.pack(env[name](table.unpack(values, 1, values.n)))
    return encoded(values, values.n)
  end
  start_limits()
  local succeeded, text = protected(answer)
  sethook()
  return succeeded, type(text) == "string" and text or type(text)
end
"""

PRELUDE = LIMITS + ORDER + BORDER + STRINGS + KUBE + LIBRARIES + RUN
"""Lua source that answers with the one function that runs scripts."""
