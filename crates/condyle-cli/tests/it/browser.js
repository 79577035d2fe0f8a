// Test only: what is wrong with how the page is laid out, as lines of text in place of the page.
addEventListener('load', () => {
  const wrong = [];
  const box = (element) => element.getBoundingClientRect();
  // Rounding, and the room above and below the letters, is no overlap.
  const overlap = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  const name = (svg) => svg.getAttribute('aria-label') || svg.outerHTML.slice(0, 80);
  let texts = 0;
  for (const svg of document.querySelectorAll('svg')) {
    const around = box(svg);
    const all = [...svg.querySelectorAll('text')].map((t) => [t.textContent, box(t)]);
    texts += all.length;
    all.forEach(([text, a], i) => {
      if (a.left < around.left - 1 || a.right > around.right + 1 || a.top < around.top - 2 || a.bottom > around.bottom + 2)
        wrong.push(`cut off: "${text}" in ${name(svg)}`);
      for (const [other, b] of all.slice(i + 1))
        if (overlap(a, b)) wrong.push(`overlap: "${text}" and "${other}" in ${name(svg)}`);
    });
  }
  for (const parent of document.querySelectorAll('.figures, main, .card, header, dl, ul')) {
    const all = [...parent.children].filter((c) => c.tagName !== 'SUMMARY').map((c) => [c, box(c)]);
    all.forEach(([element, a], i) => {
      for (const [other, b] of all.slice(i + 1))
        if (overlap(a, b)) wrong.push(`overlap: ${element.outerHTML.slice(0, 60)} and ${other.outerHTML.slice(0, 60)}`);
    });
  }
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) wrong.push(`wider than the window: ${wide} of ${innerWidth}`);
  for (const element of document.querySelectorAll('th, td, p, li, h1, h2, h3, figcaption, dd')) {
    const scrolled = element.closest('.scroll');
    if (!scrolled && box(element).right > innerWidth + 1) wrong.push(`beyond the window: ${element.textContent.slice(0, 60)}`);
    if (element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== 'inline')
      wrong.push(`too narrow: ${element.textContent.slice(0, 60)}`);
  }
  for (const link of document.querySelectorAll('a[href^="#"]'))
    if (!document.getElementById(link.getAttribute('href').slice(1))) wrong.push(`leads nowhere: ${link.outerHTML}`);
  const result = `LOOKED AT ${texts} texts at ${innerWidth}\n${wrong.map((w) => `WRONG ${w}`).join('\n')}\nEND`;
  document.body.replaceChildren(Object.assign(document.createElement('pre'), { textContent: result }));
});
