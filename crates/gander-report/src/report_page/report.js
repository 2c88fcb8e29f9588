(function () {
  'use strict';
  var root = document.documentElement, errors = 0;
  window.addEventListener('error', function () { errors += 1; root.dataset.errors = String(errors); });
  root.dataset.errors = '0';

  function all(within, selector) { return Array.prototype.slice.call(within.querySelectorAll(selector)); }

  function has(list, step) { return (' ' + list + ' ').indexOf(' ' + step + ' ') >= 0; }

  function tell(run, at) {
    var table = document.createElement('table'), head = run.querySelector('thead [data-at="' + at + '"]');
    var chosen = run.querySelector('.chosen'), title = document.createElement('h4');
    table.className = 'plain';
    all(run, 'tbody tr[data-row]').forEach(function (row) {
      var cell = row.querySelector('[data-at="' + at + '"]');
      if (!cell || cell.classList.contains('absent')) { return; }
      if (row.classList.contains('minor') && !run.classList.contains('every')) { return; }
      var line = table.insertRow(), name = line.insertCell(), value = line.insertCell(), more = line.insertCell();
      name.textContent = row.querySelector('th').textContent;
      value.textContent = cell.dataset.value;
      if (cell.classList.contains('changed')) { value.className = 'new'; }
      more.className = 'soft';
      more.textContent = cell.title;
    });
    chosen.textContent = '';
    title.textContent = head ? 'Step ' + head.textContent.trim().replace(/\s+/g, ' ') : '';
    chosen.appendChild(title);
    chosen.appendChild(table);
  }

  function choose(run, to) {
    var at = Math.max(0, Math.min(Number(run.dataset.steps) - 1, to));
    all(run, '.on').forEach(function (cell) { cell.classList.remove('on'); });
    all(run, '[data-at="' + at + '"]').forEach(function (cell) { cell.classList.add('on'); });
    var head = run.querySelector('thead [data-at="' + at + '"]'), article = run.closest('article');
    var step = head ? head.querySelector('b').textContent : String(at);
    all(article, '.graph [data-taken]').forEach(function (edge) { edge.classList.toggle('now', has(edge.dataset.taken, step)); });
    all(article, '.graph [data-states]').forEach(function (node) { node.classList.toggle('now', has(node.dataset.states, step)); });
    run.dataset.step = String(at);
    tell(run, at);
    return head;
  }

  function point(element) {
    var first = null;
    all(document, 'pre [data-e]').forEach(function (piece) {
      var is = has(piece.dataset.e, element);
      piece.classList.toggle('here', is);
      if (is && !first) { first = piece; }
    });
    if (first) { first.scrollIntoView({ block: 'center' }); }
    root.dataset.element = element;
  }

  document.addEventListener('click', function (event) {
    var cell = event.target.closest('.run [data-at]'), element = event.target.closest('[data-point]');
    var every = event.target.closest('[data-every]');
    if (cell) { choose(cell.closest('.run'), Number(cell.dataset.at)); }
    if (element) { point(element.dataset.point); }
    if (every) {
      var run = every.closest('.run');
      run.classList.toggle('every');
      if (run.dataset.step !== undefined) { tell(run, Number(run.dataset.step)); }
    }
  });
  document.addEventListener('keydown', function (event) {
    var run = document.activeElement && document.activeElement.closest('.run');
    if (!run || event.ctrlKey || event.metaKey || event.altKey) { return; }
    var now = run.dataset.step === undefined ? Number(run.dataset.steps) : Number(run.dataset.step);
    var to = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: Number(run.dataset.steps) - 1 };
    if (Object.prototype.hasOwnProperty.call(to, event.key)) {
      event.preventDefault();
      var head = choose(run, to[event.key]);
      if (head) { head.scrollIntoView({ block: 'nearest', inline: 'nearest' }); }
    }
  });
  window.addEventListener('beforeprint', function () {
    all(document, 'details').forEach(function (part) { part.open = true; });
  });
  root.dataset.ready = 'yes';
}());
