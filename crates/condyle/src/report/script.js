// Comfort only: the page is complete without it. A filter for the table, and sorting by its columns.
(() => {
  const table = document.querySelector('table.summary');
  if (!table || !table.tBodies[0]) return;
  const body = table.tBodies[0];
  const tools = document.createElement('p');
  tools.className = 'tools';
  const label = document.createElement('label');
  label.textContent = 'Find a joint: ';
  const input = document.createElement('input');
  input.type = 'search';
  label.append(input);
  tools.append(label);
  table.parentNode.before(tools);
  input.addEventListener('input', () => {
    const wanted = input.value.toLowerCase();
    for (const row of body.rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (column === 6) return;
    head.setAttribute('aria-sort', 'none');
    head.tabIndex = 0;
    const sort = () => {
      const up = head.getAttribute('aria-sort') !== 'ascending';
      heads.forEach((other) => other.hasAttribute('aria-sort') && other.setAttribute('aria-sort', 'none'));
      head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      const key = (row) => {
        const cell = row.cells[column];
        if (!cell) return '';
        return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v || -1);
      };
      const rows = [...body.rows].sort((a, b) => {
        const [x, y] = [key(a), key(b)];
        const order = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y));
        return up ? order : -order;
      });
      body.append(...rows);
    };
    head.addEventListener('click', sort);
    head.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' || event.key === ' ') {
        event.preventDefault();
        sort();
      }
    });
  });
})();
