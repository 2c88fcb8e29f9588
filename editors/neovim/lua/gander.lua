-- gander in Neovim (0.7 or later): language server, verdicts at the claims, commands.
--
--   require('gander').setup()
--   require('gander').setup({ command = { '/opt/gander', 'lsp' }, settings = { check = 'idle' } })
local M = {}

local extensions = {
  sts = 'sts', lus = 'lustre', ec = 'lustre', script = 'script', umc = 'script', smv = 'smv',
  vmt = 'vmt', smt2 = 'horn', horn = 'horn', chc = 'horn', btor = 'btor2', btor2 = 'btor2',
  mcmt = 'mcmt',
}
local filetypes = { 'sts', 'lustre', 'script', 'smv', 'vmt', 'horn', 'btor2', 'mcmt' }
local marks = vim.api.nvim_create_namespace('gander')
local looks = {
  holds = { '✓ holds', 'DiagnosticHint' }, fails = { '✗ fails', 'DiagnosticError' },
  unknown = { '? not decided', 'DiagnosticWarn' }, vacuous = { '! vacuous', 'DiagnosticWarn' },
}

-- From the worst on: a line may have several claims, one for each instance of a node.
local order = { 'fails', 'vacuous', 'unknown', 'holds' }

-- What happened, for tests.
M.events = {}
-- By buffer and line: the verdicts of the claims there, by name.
local verdicts = {}
local client_id

local function buffer_of(uri)
  local buffer = vim.uri_to_bufnr(uri)
  return vim.api.nvim_buf_is_loaded(buffer) and buffer or nil
end

local handlers = {}

handlers['gander/verdict'] = function(_, params)
  table.insert(M.events, { 'verdict', params.result.claim, params.result.verdict })
  local buffer, look = buffer_of(params.uri), looks[params.result.verdict]
  if not (buffer and look and type(params.range) == 'table') then return end
  -- The text may have been changed since.
  local version = vim.lsp.util.buf_versions and vim.lsp.util.buf_versions[buffer]
  if version and version ~= params.version then return end
  local line = params.range.start.line
  if line >= vim.api.nvim_buf_line_count(buffer) then return end
  verdicts[buffer] = verdicts[buffer] or {}
  local here = verdicts[buffer][line] or {}
  verdicts[buffer][line] = here
  here[params.result.claim] = params.result.verdict
  local all, counts = 0, {}
  for _, verdict in pairs(here) do
    all, counts[verdict] = all + 1, (counts[verdict] or 0) + 1
  end
  for _, word in ipairs(order) do
    if counts[word] then
      local share = counts[word] < all and (' (%d of %d)'):format(counts[word], all) or ''
      look = { looks[word][1] .. share, looks[word][2] }
      break
    end
  end
  vim.api.nvim_buf_clear_namespace(buffer, marks, line, line + 1)
  vim.api.nvim_buf_set_extmark(buffer, marks, line, 0, { virt_text = { look } })
end

local function clear(buffer)
  verdicts[buffer] = nil
  if not vim.api.nvim_buf_is_valid(buffer) then return end
  vim.api.nvim_buf_clear_namespace(buffer, marks, 0, -1)
end

-- A file that the document includes was changed.
handlers['gander/outdated'] = function(_, params)
  local buffer = buffer_of(params.uri)
  if buffer then clear(buffer) end
end

handlers['gander/check'] = function(_, params)
  table.insert(M.events, { 'check', params.state, params.ending })
end

handlers['gander/explained'] = function(_, params)
  table.insert(M.events, { 'explained', params.claim, params.text })
  local items = {}
  for _, element in ipairs(params.elements) do
    if type(element.range) == 'table' then
      table.insert(items, {
        bufnr = buffer_of(params.uri), lnum = element.range.start.line + 1,
        col = element.range.start.character + 1, text = element.name,
      })
    end
  end
  vim.fn.setqflist({}, ' ', { title = 'core of ' .. params.claim, items = items })
end

local function execute(command, arguments, done)
  local client = client_id and vim.lsp.get_client_by_id(client_id)
  if not client then return end
  client.request('workspace/executeCommand', { command = command, arguments = arguments },
    function(problem, result)
      if problem then vim.notify(problem.message, vim.log.levels.WARN) end
      if done then done(result) end
    end)
end

-- The name of the claim on this line of the current buffer, or nil for all claims.
local function with_claim(name, action)
  if name ~= '' then return action(name) end
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  execute('gander.state', { vim.uri_from_bufnr(0) }, function(state)
    for _, claim in ipairs(state and state.claims or {}) do
      local range = claim.range
      if type(range) == 'table' and range.line - 1 <= line and line <= range.end_line - 1 then
        return action(claim.claim)
      end
    end
    action(vim.NIL)
  end)
end

function M.check(name)
  execute('gander.check', { vim.uri_from_bufnr(0), name ~= '' and name or vim.NIL })
end

function M.explain(name)
  local uri = vim.uri_from_bufnr(0)
  with_claim(name or '', function(claim) execute('gander.explain', { uri, claim }) end)
end

local function show_simulation(view)
  if not view then return end
  local lines = {}
  for step, row in ipairs(view.rows) do
    table.insert(lines, (step - 1) .. '  ' .. row.action .. (row.node ~= '' and '  at ' .. row.node or ''))
    local names = vim.tbl_keys(row.values)
    table.sort(names)
    for _, name in ipairs(names) do table.insert(lines, '     ' .. name .. ' = ' .. row.values[name]) end
  end
  for _, choice in ipairs(view.choices) do
    if type(choice.step) == 'string' then table.insert(lines, '-> ' .. choice.step) end
  end
  M.simulation = view
  -- With a focus_id, a second preview would enter the first one instead of replacing it.
  vim.lsp.util.open_floating_preview(lines, '', {})
end

-- `:GanderSimulate` begins; `:GanderSimulate TRANSITION`, `undo` or `random` goes on.
function M.simulate(word)
  local uri, request = vim.uri_from_bufnr(0), {}
  if word ~= '' and M.simulation then
    local known = { undo = true, random = true, reset = true }
    request = { simulation = M.simulation.simulation, transition = word,
      ['do'] = known[word] and word or 'step' }
    return execute('gander.simulate', { uri, request }, show_simulation)
  end
  with_claim('', function(claim)
    execute('gander.simulate', { uri, { claim = claim } }, show_simulation)
  end)
end

function M.setup(options)
  options = options or {}
  local start = function(event)
    if not (client_id and vim.lsp.get_client_by_id(client_id)) then
      client_id = vim.lsp.start_client({
        name = 'gander', cmd = options.command or { 'gander', 'lsp' },
        root_dir = vim.fn.getcwd(), init_options = options.settings or {}, handlers = handlers,
      })
    end
    if client_id then vim.lsp.buf_attach_client(event.buf, client_id) end
    -- Verdicts are about the text before an edit.
    local edited = function() vim.schedule(function() clear(event.buf) end) end
    vim.api.nvim_buf_attach(event.buf, false, { on_lines = edited, on_reload = edited })
  end
  vim.api.nvim_create_autocmd('FileType', { pattern = filetypes, callback = start })
  -- Before 0.8 `vim.filetype.add` is not in use by itself.
  for extension, filetype in pairs(extensions) do
    vim.api.nvim_create_autocmd({ 'BufRead', 'BufNewFile' }, {
      pattern = '*.' .. extension, command = 'setfiletype ' .. filetype,
    })
  end
  for name, action in pairs({ Check = M.check, Explain = M.explain, Simulate = M.simulate }) do
    vim.api.nvim_create_user_command('Gander' .. name,
      function(given) action(given.args) end, { nargs = '?' })
  end
  vim.lsp.commands['gander.check'] = function(c) execute(c.command, c.arguments) end
  vim.lsp.commands['gander.explain'] = function(c) execute(c.command, c.arguments) end
  vim.lsp.commands['gander.simulate'] = function(c)
    execute(c.command, c.arguments, show_simulation)
  end
end

return M
