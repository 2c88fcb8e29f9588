(function () {
  'use strict';
  var root = document.documentElement, errors = 0;
  window.addEventListener('error', function () { errors += 1; root.dataset.errors = String(errors); });
  root.dataset.errors = '0';
  var runs = Array.prototype.slice.call(document.querySelectorAll('.run'));
  var tabs = Array.prototype.slice.call(document.querySelectorAll('nav button[data-run]'));
  var details = document.getElementById('details'), current = 0, step = 0;

  function all(within, selector) { return Array.prototype.slice.call(within.querySelectorAll(selector)); }

  function cells(run, at) { return all(run, '[data-at="' + at + '"]'); }

  function count(run) { return Number(run.dataset.steps); }

  function tell(run) {
    var table = document.createElement('table'), head = run.querySelector('thead [data-at="' + step + '"]');
    table.className = 'plain';
    all(run, 'tbody tr[data-row]').forEach(function (row) {
      var cell = row.querySelector('[data-at="' + step + '"]');
      if (!cell || cell.classList.contains('absent')) { return; }
      if (row.classList.contains('minor') && !run.classList.contains('every')) { return; }
      var line = table.insertRow(), name = line.insertCell(), value = line.insertCell(), more = line.insertCell();
      name.textContent = row.querySelector('th').textContent;
      value.textContent = cell.dataset.value;
      if (cell.classList.contains('changed')) { value.className = 'new'; }
      more.className = 'soft';
      more.textContent = cell.title;
    });
    details.textContent = '';
    var title = document.createElement('h3');
    title.textContent = head ? 'Step ' + head.textContent.trim().replace(/\s+/g, ' ') : '';
    details.appendChild(title);
    details.appendChild(table);
  }

  function choose(at) {
    var run = runs[current];
    if (!run) { return; }
    step = Math.max(0, Math.min(count(run) - 1, at));
    all(run, '.on').forEach(function (cell) { cell.classList.remove('on'); });
    cells(run, step).forEach(function (cell) { cell.classList.add('on'); });
    var head = run.querySelector('thead [data-at="' + step + '"]');
    if (head && head.scrollIntoView) { head.scrollIntoView({ block: 'nearest', inline: 'nearest' }); }
    tell(run);
    root.dataset.step = String(step);
  }

  function show(index) {
    if (!runs.length) { return; }
    current = Math.max(0, Math.min(runs.length - 1, index));
    runs.forEach(function (run, i) { run.hidden = i !== current; });
    tabs.forEach(function (tab, i) { tab.setAttribute('aria-selected', String(i === current)); });
    var run = runs[current], forced = (run.dataset.forced || '').split(' ');
    all(document, 'pre [data-e]').forEach(function (piece) {
      var own = piece.dataset.e.split(' ');
      var is = function (list) { return own.some(function (e) { return e && list.indexOf(e) >= 0; }); };
      piece.classList.toggle('forced', is(forced));
      piece.classList.toggle('claim', is(['c' + current]));
      piece.classList.remove('here');
    });
    root.dataset.run = String(current);
    choose(count(run) - 1);
  }

  function point(element) {
    var first = null;
    all(document, 'pre [data-e]').forEach(function (piece) {
      var is = piece.dataset.e.split(' ').indexOf(element) >= 0;
      piece.classList.toggle('here', is);
      if (is && !first) { first = piece; }
    });
    if (first) { first.scrollIntoView({ block: 'center' }); }
    root.dataset.element = element;
  }

  tabs.forEach(function (tab, i) { tab.addEventListener('click', function () { show(i); }); });
  document.addEventListener('click', function (event) {
    var cell = event.target.closest('[data-at]'), element = event.target.closest('[data-point]');
    if (cell) { choose(Number(cell.dataset.at)); }
    if (element) { point(element.dataset.point); }
    if (event.target.closest('[data-every]')) { runs[current].classList.toggle('every'); tell(runs[current]); }
  });
  document.addEventListener('keydown', function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey) { return; }
    var run = runs[current], to = { ArrowLeft: step - 1, ArrowRight: step + 1, Home: 0, End: run ? count(run) - 1 : 0 };
    if (Object.prototype.hasOwnProperty.call(to, event.key)) { event.preventDefault(); choose(to[event.key]); }
  });

  function read() {
    var wanted = {};
    location.hash.replace(/^#/, '').split('&').forEach(function (part) {
      var pair = part.split('=');
      wanted[pair[0]] = pair[1];
    });
    show(Number(wanted.run) || 0);
    if (wanted.select !== undefined) {
      var cell = runs[current] && runs[current].querySelector('thead [data-at="' + (Number(wanted.select) || 0) + '"]');
      if (cell) { cell.click(); }
    }
    if (wanted.point !== undefined) {
      var element = runs[current] && runs[current].querySelector('[data-point]');
      if (element) { element.click(); }
    }
    if (wanted.key) {
      document.dispatchEvent(new KeyboardEvent('keydown', { key: wanted.key, bubbles: true }));
    }
  }
  window.addEventListener('hashchange', read);
  read();
  root.dataset.ready = 'yes';
}());
