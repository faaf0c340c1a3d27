/** The page's script: search, the menu on narrow screens, and the service's own address in the commands. */
export const script = `
const search = document.getElementById('search');
const found = document.getElementById('found');
const menu = document.getElementById('menu');
const contents = document.getElementById('contents');
const start = document.getElementById('start');
const problems = document.getElementById('problems');

function filter() {
  const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let count = 0;
  for (const one of document.querySelectorAll('[data-search]')) {
    one.hidden = !words.every((word) => one.dataset.search.includes(word));
    if (!one.hidden && one.classList.contains('operation')) count += 1;
  }
  for (const group of document.querySelectorAll('[data-group]')) {
    group.hidden = group.querySelector('[data-search]:not([hidden])') === null;
  }
  start.hidden = words.length > 0;
  problems.hidden = words.length > 0;
  found.textContent = words.length === 0 ? '' : count === 1 ? '1 operation' : count + ' operations';
}

function show(open) {
  menu.setAttribute('aria-expanded', String(open));
  contents.classList.toggle('open', open);
}

let timer;
search.addEventListener('input', () => {
  clearTimeout(timer);
  timer = setTimeout(() => { filter(); scrollTo(0, 0); }, 80);
});
menu.addEventListener('click', () => show(menu.getAttribute('aria-expanded') !== 'true'));
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    show(false);
    if (search.value !== '') { search.value = ''; filter(); }
  }
  if (event.key === '/' && document.activeElement !== search) {
    event.preventDefault();
    search.focus();
  }
});
document.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
  if (link === null) return;
  show(false);
  const target = document.getElementById(link.getAttribute('href').slice(1));
  if (target !== null && target.closest('[hidden]') !== null) { search.value = ''; filter(); }
});

const base = location.origin + location.pathname.replace(/\\/docs\\/?$/, '');
for (const code of document.querySelectorAll('code.curl')) {
  code.textContent = code.textContent.replace(/^BASE=.*$/m, 'BASE=' + base);
}

const links = new Map();
for (const link of contents.querySelectorAll('li a')) links.set(link.getAttribute('href').slice(1), link);
const seen = new Set();
let current;
const observer = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) seen.add(target.id);
    else seen.delete(target.id);
  }
  const next = links.get([...links.keys()].find((id) => seen.has(id))) ?? current;
  if (next === current) return;
  current?.removeAttribute('aria-current');
  next.setAttribute('aria-current', 'true');
  current = next;
  const { top, bottom } = next.getBoundingClientRect();
  const frame = contents.getBoundingClientRect();
  if (top < frame.top || bottom > frame.bottom) contents.scrollTop += top - frame.top - frame.height / 3;
}, { rootMargin: '-80px 0px -55% 0px' });
for (const id of links.keys()) observer.observe(document.getElementById(id));
`;
