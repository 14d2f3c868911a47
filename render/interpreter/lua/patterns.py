"""Lua's pattern matching, written in Lua so that every step of it counts.

Lua's own matcher runs in C, where no instruction count reaches it, and a pattern such as ``a*a*a*b`` can keep it busy
for hours. This one gives the same answers and is stopped like any other loop. Plain searches of little text still go
to C.
"""

PATTERNS = r"""
local byte, sub = string.byte, string.sub
local ESCAPE, UNFINISHED, POSITION = 37, -1, -2

local function letter(c) return c >= 65 and c <= 90 or c >= 97 and c <= 122 end
local function digit(c) return c >= 48 and c <= 57 end
local function control(c) return c < 32 or c == 127 end
local function space(c) return c == 32 or c >= 9 and c <= 13 end
local function printable(c) return c > 32 and c < 127 end
local classes = {
  [97] = letter, [99] = control, [100] = digit, [115] = space, [103] = printable,
  [108] = function(c) return c >= 97 and c <= 122 end,
  [112] = function(c) return printable(c) and not letter(c) and not digit(c) end,
  [117] = function(c) return c >= 65 and c <= 90 end,
  [119] = function(c) return letter(c) or digit(c) end,
  [120] = function(c) return digit(c) or c >= 65 and c <= 70 or c >= 97 and c <= 102 end,
}

local function in_class(c, class)
  local is_upper = class >= 65 and class <= 90
  local test = classes[is_upper and class + 32 or class]
  if not test then return class == c end
  return test(c) ~= is_upper
end

local function class_end(p, i)
  local c = byte(p, i)
  i = i + 1
  if c == ESCAPE then
    if i > #p then error("malformed pattern (ends with '%')", 0) end
    return i + 1
  elseif c ~= 91 then
    return i
  end
  if byte(p, i) == 94 then i = i + 1 end
  repeat
    c = byte(p, i)
    if not c then error("malformed pattern (missing ']')", 0) end
    i = i + 1
    if c == ESCAPE then i = i + 1 end
  until byte(p, i) == 93
  return i + 1
end

local function in_set(c, p, i, last)
  local negated = byte(p, i + 1) == 94
  if negated then i = i + 1 end
  i = i + 1
  while i < last do
    local first = byte(p, i)
    if first == ESCAPE then
      if in_class(c, byte(p, i + 1)) then return not negated end
      i = i + 2
    elseif byte(p, i + 1) == 45 and i + 2 < last then
      if first <= c and c <= byte(p, i + 2) then return not negated end
      i = i + 3
    else
      if first == c then return not negated end
      i = i + 1
    end
  end
  return negated
end

local function single(m, i, pi, ep)
  local c = byte(m.s, i)
  if not c then return false end
  local kind = byte(m.p, pi)
  if kind == 46 then return true end
  if kind == ESCAPE then return in_class(c, byte(m.p, pi + 1)) end
  if kind == 91 then return in_set(c, m.p, pi, ep - 1) end
  return kind == c
end

local match_here

local function max_expand(m, i, pi, ep)
  local count = 0
  while single(m, i + count, pi, ep) do count = count + 1 end
  while count >= 0 do
    local found = match_here(m, i + count, ep + 1)
    if found then return found end
    count = count - 1
  end
end

local function min_expand(m, i, pi, ep)
  while true do
    local found = match_here(m, i, ep + 1)
    if found then return found end
    if not single(m, i, pi, ep) then return nil end
    i = i + 1
  end
end

local function start_capture(m, i, pi, length)
  if m.level >= 32 then error("too many captures", 0) end
  m.level = m.level + 1
  m.start[m.level], m.length[m.level] = i, length
  local found = match_here(m, i, pi)
  if not found then m.level = m.level - 1 end
  return found
end

local function end_capture(m, i, pi)
  local level = m.level
  while level > 0 and m.length[level] ~= UNFINISHED do level = level - 1 end
  if level == 0 then error("invalid pattern capture", 0) end
  m.length[level] = i - m.start[level]
  local found = match_here(m, i, pi)
  if not found then m.length[level] = UNFINISHED end
  return found
end

local function match_balance(m, i, pi)
  local open, close = byte(m.p, pi, pi + 1)
  if not close then error("unbalanced pattern", 0) end
  if byte(m.s, i) ~= open then return nil end
  local depth, at = 1, i + 1
  while true do
    local c = byte(m.s, at)
    if not c then return nil end
    if c == close then
      depth = depth - 1
      if depth == 0 then return at + 1 end
    elseif c == open then
      depth = depth + 1
    end
    at = at + 1
  end
end

local function match_frontier(m, i, pi)
  if byte(m.p, pi) ~= 91 then error("missing '[' after '%f' in pattern", 0) end
  local ep = class_end(m.p, pi)
  local before, here = byte(m.s, i - 1) or 0, byte(m.s, i) or 0
  if in_set(before, m.p, pi, ep - 1) or not in_set(here, m.p, pi, ep - 1) then return nil end
  return match_here(m, i, ep)
end

local function match_again(m, i, pi)
  local level = byte(m.p, pi) - 48
  local length = m.length[level]
  if level < 1 or level > m.level or length == UNFINISHED then error("invalid capture index", 0) end
  if length == POSITION then return nil end
  local start = m.start[level]
  if sub(m.s, start, start + length - 1) ~= sub(m.s, i, i + length - 1) then return nil end
  return match_here(m, i + length, pi + 1)
end

function match_here(m, i, pi)
  local p = m.p
  while pi <= #p do
    local c = byte(p, pi)
    if c == 40 then
      if byte(p, pi + 1) == 41 then return start_capture(m, i, pi + 2, POSITION) end
      return start_capture(m, i, pi + 1, UNFINISHED)
    elseif c == 41 then
      return end_capture(m, i, pi + 1)
    elseif c == 36 and pi == #p then
      return i == #m.s + 1 and i or nil
    end
    local after = c == ESCAPE and byte(p, pi + 1)
    if after == 98 then
      i = match_balance(m, i, pi + 2)
      if not i then return nil end
      pi = pi + 4
    elseif after == 102 then
      return match_frontier(m, i, pi + 2)
    elseif after and digit(after) then
      return match_again(m, i, pi + 1)
    else
      local ep = class_end(p, pi)
      local suffix = byte(p, ep)
      if suffix == 42 then return max_expand(m, i, pi, ep) end
      if suffix == 45 then return min_expand(m, i, pi, ep) end
      local matched = single(m, i, pi, ep)
      if suffix == 43 then return matched and max_expand(m, i + 1, pi, ep) or nil end
      if suffix == 63 then
        local found = matched and match_here(m, i + 1, ep + 1)
        if found then return found end
        pi = ep + 1
      elseif not matched then
        return nil
      else
        i, pi = i + 1, ep
      end
    end
  end
  return i
end
"""
"""Lua source: ``match_here(m, i, pi)`` matches a pattern at one place of a string."""
