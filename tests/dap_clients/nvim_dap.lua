-- One session through nvim-dap, as a person has it: a breakpoint in a buffer, steps into C++ and back, a look at values.
-- Run by `nvim --headless -u NONE` with nvim-dap on its path; $PYHARNESS, $PROGRAM and $LINE say what to debug.
local PATIENCE_MS = 60000
local said = {}
local stops = 0

local function say(...)
  table.insert(said, table.concat(vim.tbl_map(tostring, { ... }), ' '))
end

local function check(holds, what)
  if not holds then
    error(what, 2)
  end
end

local function await(what, done)
  check(vim.wait(PATIENCE_MS, done, 5), 'nothing came: ' .. what)
end

local dap = require('dap')
local program, line = os.getenv('PROGRAM'), tonumber(os.getenv('LINE'))

local function file(frame)
  return frame.source and vim.fn.fnamemodify(frame.source.path, ':t') or ''
end

local function listen()
  dap.listeners.after.event_stopped.test = function(_, body)
    say('stopped', vim.inspect(body))
    stops = stops + 1
  end
  for _, event in ipairs({ 'output', 'terminated', 'exited', 'breakpoint' }) do
    dap.listeners.after['event_' .. event].test = function(_, body)
      say(event, vim.inspect(body))
    end
  end
end

-- The frame that nvim-dap shows after what `go` starts; it keeps the one before until it has the new stack.
local function stop_after(what, go)
  local before, shown = stops, dap.session() and dap.session().current_frame
  go()
  await(what, function()
    local session = dap.session()
    return stops > before and session and session.current_frame and session.current_frame ~= shown
  end)
  local frame = dap.session().current_frame
  say(what, file(frame), frame.line, frame.name)
  return frame
end

-- The buffer that nvim-dap shows is that of the frame, with the cursor on its line.
local function check_shown(frame)
  check(vim.fn.expand('%:p') == frame.source.path, 'the buffer is ' .. vim.fn.expand('%:p') .. ', not ' .. file(frame))
  check(vim.fn.line('.') == frame.line, 'the cursor is on line ' .. vim.fn.line('.') .. ', not ' .. frame.line)
end

local function request(command, arguments)
  local answered, answer, failure = false, nil, nil
  dap.session():request(command, arguments, function(err, body)
    answered, answer, failure = true, body, err
  end)
  await(command, function()
    return answered
  end)
  check(not failure, command .. ': ' .. vim.inspect(failure))
  say(command, vim.inspect(answer))
  return answer
end

local function value(expression)
  local frame = dap.session().current_frame
  return request('evaluate', { expression = expression, frameId = frame.id, context = 'repl' }).result
end

local function begin()
  dap.adapters.pyharness = { type = 'executable', command = os.getenv('PYHARNESS'), args = { 'dap' } }
  vim.cmd('edit ' .. vim.fn.fnameescape(program))
  vim.fn.cursor(line, 1)
  dap.set_breakpoint()
  local configuration = { type = 'pyharness', request = 'launch', name = 'test', program = program }
  local frame = stop_after('the breakpoint in the program', function()
    dap.run(configuration)
  end)
  check(frame.source.path == program and frame.line == line, 'not at the breakpoint')
  check_shown(frame)
end

-- A breakpoint where the generated forward calls our op, in the buffer that nvim-dap opens for it.
local function to_generated_line()
  local first = stop_after('step into the traced module', dap.step_into)
  check(file(first):match('^Model_%w+%.py$'), 'the generated forward is a file: ' .. file(first))
  check_shown(first)
  vim.fn.search('rms_norm\\.default')
  local wanted = vim.fn.line('.')
  if wanted == first.line then
    return first
  end
  dap.set_breakpoint()
  local frame = stop_after('the breakpoint in generated code', dap.continue)
  check(file(frame) == file(first) and frame.line == wanted, 'not at the generated line')
  check(value('x.shape[1]') == '4', 'Python is evaluated in a generated frame')
  return frame
end

local function into_the_kernel_and_back()
  local generated = to_generated_line()
  local native = stop_after('step into the kernel', dap.step_into)
  check(file(native):match('%.cpp$'), 'stepIn lands in C++, not in ' .. file(native))
  check_shown(native)
  check(value('eps'):match('e%-0[67]'), 'an argument of the kernel')
  local thread = dap.session().threads[dap.session().stopped_thread_id]
  local files = vim.tbl_map(file, thread.frames)
  check(vim.tbl_contains(files, file(generated)), 'the stack has the generated frame: ' .. vim.inspect(files))
  check(vim.tbl_contains(files, vim.fn.fnamemodify(program, ':t')), "the stack has the user's frame")
  dap.up()
  local above = dap.session().current_frame
  check(above.id ~= native.id, 'up goes to the caller')
  say('up:', above.name)

  local out = stop_after('step out', dap.step_out)
  check(file(out) == file(generated) and out.line > generated.line, 'stepOut lands on the next generated line')
  check_shown(out)
end

local function finish()
  dap.disconnect({ terminateDebuggee = true })
  await('the end of the session', function()
    return dap.session() == nil
  end)
end

listen()
local passed, failure = xpcall(function()
  begin()
  into_the_kernel_and_back()
  finish()
end, debug.traceback)
if passed then
  io.stdout:write('nvim-dap: passed\n')
  vim.cmd('qall!')
else
  io.stderr:write(failure, '\n--- what was said\n', table.concat(said, '\n'), '\n')
  vim.cmd('cquit 1')
end
