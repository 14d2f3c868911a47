"""Lua's string functions that search, replace and format, over the counted matcher of ``patterns``."""

from .patterns import PATTERNS

STRINGS = (
    PATTERNS
    + r"""
local plain_find, rep, format, concat, unpack = string.find, string.rep, string.format, table.concat, table.unpack
local CHEAP = 65536

local function text(value, position, name)
  if type(value) == "number" then return tostring(value) end
  if type(value) == "string" then return value end
  error("bad argument #" .. position .. " to '" .. name .. "' (string expected, got " .. type(value) .. ")", 3)
end

local function capture(m, index, first, last)
  if index > m.level then
    if index ~= 1 then error("invalid capture index", 0) end
    return sub(m.s, first, last - 1)
  end
  local start, length = m.start[index], m.length[index]
  if length == POSITION then return start end
  if length == UNFINISHED then error("unfinished capture", 0) end
  return sub(m.s, start, start + length - 1)
end

local function captures(m, first, last)
  local found = {}
  for index = 1, first and m.level == 0 and 1 or m.level do found[index] = capture(m, index, first, last) end
  return unpack(found, 1, #found)
end

local function search(m, i, anchored, from)
  repeat
    m.level = 0
    local last = match_here(m, i, from)
    if last then return i, last end
    i = i + 1
  until anchored or i > #m.s + 1
end

local function started(s, p, init)
  init = init or 1
  if init < 0 then init = #s + init + 1 end
  init = init < 1 and 1 or init
  local anchored = byte(p, 1) == 94
  return { s = s, p = p, level = 0, start = {}, length = {} }, init, anchored, anchored and 2 or 1
end

local function find_plain(s, p, init)
  if #s * #p <= CHEAP then return plain_find(s, p, init, true) end
  for i = init < 1 and 1 or init, #s - #p + 1 do
    if sub(s, i, i + #p - 1) == p then return i, i + #p - 1 end
  end
end

function string.find(s, p, init, plain)
  s, p = text(s, 1, "find"), text(p, 2, "find")
  local m, from, anchored, first = started(s, p, init)
  if from > #s + 1 then return nil end
  if plain or #p <= 64 and not plain_find(p, "[%^%$%*%+%?%.%(%[%%%-]") then return find_plain(s, p, from) end
  local start, last = search(m, from, anchored, first)
  if start then return start, last - 1, captures(m) end
end

function string.match(s, p, init)
  s, p = text(s, 1, "match"), text(p, 2, "match")
  local m, from, anchored, first = started(s, p, init)
  if from > #s + 1 then return nil end
  local start, last = search(m, from, anchored, first)
  if start then return captures(m, start, last) end
end

function string.gmatch(s, p)
  s, p = text(s, 1, "gmatch"), text(p, 2, "gmatch")
  local m, from = started(s, p), 1
  return function()
    if from > #s + 1 then return nil end
    local start, last = search(m, from, false, 1)
    if not start then from = #s + 2 return nil end
    from = last == start and last + 1 or last
    return captures(m, start, last)
  end
end

local function expanded(m, replacement, first, last)
  local out, i = {}, 1
  while i <= #replacement do
    local c = sub(replacement, i, i)
    if c == "%" then
      i = i + 1
      c = sub(replacement, i, i)
      local index = tonumber(c)
      if index == 0 then c = sub(m.s, first, last - 1)
      elseif index then c = capture(m, index, first, last) end
    end
    out[#out + 1] = c
    i = i + 1
  end
  return concat(out)
end

local function replaced(m, by, first, last)
  local value
  if type(by) == "table" then value = by[capture(m, 1, first, last)]
  elseif type(by) == "function" then value = by(captures(m, first, last))
  else return expanded(m, by, first, last) end
  if not value then return sub(m.s, first, last - 1) end
  if type(value) ~= "string" and type(value) ~= "number" then
    error("invalid replacement value (a " .. type(value) .. ")", 0)
  end
  return value
end

function string.gsub(s, p, by, limit)
  s, p = text(s, 1, "gsub"), text(p, 2, "gsub")
  if type(by) ~= "table" and type(by) ~= "function" then by = text(by, 3, "gsub") end
  local m, i, anchored, from = started(s, p)
  local out, count = {}, 0
  while count < (limit or #s + 1) do
    m.level = 0
    local last = match_here(m, i, from)
    if last then
      count = count + 1
      out[#out + 1] = replaced(m, by, i, last)
    end
    if last and last > i then i = last
    elseif i <= #s then out[#out + 1] = sub(s, i, i) i = i + 1
    else break end
    if anchored then break end
  end
  out[#out + 1] = sub(s, i)
  return concat(out), count
end

function string.rep(s, count)
  s, count = text(s, 1, "rep"), tonumber(count)
  if not count then error("bad argument #2 to 'rep' (number expected)", 2) end
  if #s == 0 or count < 1 then return "" end
  if #s * count > LONGEST_STRING then error("resulting string too large", 0) end
  return rep(s, count)
end

function string.format(layout, ...)
  local values = { ... }
  for index = 1, select("#", ...) do
    local value = values[index]
    -- The text of a finite number is that number to every conversion.
    local is_finite = type(value) ~= "number" or value - value == 0
    if type(value) ~= "string" and is_finite then values[index] = tostring(value) end
  end
  return format(layout, unpack(values, 1, select("#", ...)))
end
"""
)
"""Lua source replacing find, match, gmatch, gsub, rep and format of the string library."""
