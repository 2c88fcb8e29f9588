-- Drives the language server as a user of Neovim would. Writes what happened to the file that
-- GANDER_TEST_OUT names; the test compares it.
local out = {}
local function say(text) table.insert(out, text) end
local function finish()
  vim.fn.writefile(out, os.getenv('GANDER_TEST_OUT'))
  vim.cmd('qa!')
end
local function wait(what, condition)
  if not vim.wait(60000, condition, 20) then
    say('no ' .. what)
    for _, event in ipairs(require('gander').events) do say(vim.inspect(event)) end
    finish()
  end
end
local function request(method, params)
  local results = vim.lsp.buf_request_sync(0, method, params, 60000) or {}
  for _, answer in pairs(results) do return answer.result end
end
local function at(what)
  local line, column = unpack(vim.fn.searchpos(what, 'nw'))
  vim.api.nvim_win_set_cursor(0, { line, column - 1 })
  return vim.lsp.util.make_position_params(0, 'utf-16')
end

local gander = require('gander')
gander.setup({ command = { os.getenv('GANDER_TEST_BINARY'), 'lsp', '--jobs', '1' } })
vim.cmd('edit ' .. os.getenv('GANDER_TEST_MODEL'))
local function ended(number)
  return function()
    local count = 0
    for _, event in ipairs(gander.events) do
      if event[1] == 'check' and event[2] == 'ended' then count = count + 1 end
    end
    return count >= number
  end
end
local function tell_verdicts()
  for _, event in ipairs(gander.events) do
    if event[1] == 'verdict' and not event[2]:find(' ') then say(event[2] .. ' ' .. event[3]) end
  end
  gander.events = {}
end

wait('first check', ended(1))
wait('diagnostic', function() return #vim.diagnostic.get(0) > 0 end)
tell_verdicts()
for _, d in ipairs(vim.diagnostic.get(0)) do say('line ' .. d.lnum + 1 .. ': ' .. d.message) end
say('hover ' .. tostring(request('textDocument/hover', at('x := x')).contents.value:match('variable')))
local definition = request('textDocument/definition', at('x := x'))
say('definition on line ' .. definition[1].range.start.line + 1)

-- A typing error and its quick fix.
local line = vim.fn.search('always wrong', 'nw')
vim.api.nvim_buf_set_lines(0, line - 1, line, false, { 'alwys wrong: x <= 3' })
wait('error', function()
  for _, d in ipairs(vim.diagnostic.get(0)) do
    if d.message:find('alwys') then return true end
  end
end)
local params = at('alwys')
params.range = { start = params.position, ['end'] = params.position }
params.context = { diagnostics = {} }
local action = request('textDocument/codeAction', params)[1]
say('action ' .. action.title)
vim.lsp.util.apply_workspace_edit(action.edit, 'utf-16')
say(vim.fn.getline(line))
wait('repair', function() return #vim.diagnostic.get(0) == 0 end)
vim.cmd('write')
wait('second check', ended(1))
tell_verdicts()
say(#vim.diagnostic.get(0) .. ' diagnostics')

local params = at('x: int')
params.newName = 'count'
vim.lsp.util.apply_workspace_edit(request('textDocument/rename', params), 'utf-16')
say(vim.fn.getline(line))
vim.cmd('GanderExplain small')
wait('explanation', function()
  for _, event in ipairs(gander.events) do
    if event[1] == 'explained' then return true end
  end
end)
say(#vim.fn.getqflist() > 0 and 'a core in the quickfix list' or 'no core')
vim.cmd('GanderSimulate')
wait('simulation', function() return gander.simulation end)
say(#gander.simulation.rows .. ' states')
vim.cmd('GanderSimulate press')
wait('step', function() return #gander.simulation.rows == 2 end)
-- The window shows the step, and the keyboard stays in the model.
local shown
wait('window', function()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then
      local buffer = vim.api.nvim_win_get_buf(window)
      shown = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
    end
  end
  return shown
end)
say(shown:match('1  press') and 'the window shows the step' or shown)
say(vim.api.nvim_win_get_config(0).relative == '' and 'the model has the focus' or 'the window has the focus')
finish()
