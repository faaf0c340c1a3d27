/**
 * The script of each page: search, the menu on narrow screens, copy buttons, the service's own address in the
 * commands, and redirects for old anchors from when the reference was one page.
 */
export const script = `
if (/\\/docs\\/$/.test(location.pathname)) {
  history.replaceState(null, '', location.pathname.slice(0, -1) + location.search + location.hash);
}
const search = document.getElementById('search');
const found = document.getElementById('found');
const menu = document.getElementById('menu');
const contents = document.getElementById('contents');
const main = document.getElementById('main');

function lead() {
  const anchor = location.hash;
  if (!/^#[\\w-]+$/.test(anchor)) return;
  const target = document.getElementById(anchor.slice(1));
  if (target !== null && target.localName !== 'a') return;
  const link = document.querySelector('a[href^="?page="][href$="' + anchor + '"]');
  if (link !== null) location.replace(link.href);
}
lead();
addEventListener('hashchange', lead);

function filter() {
  const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const isSearching = words.length > 0;
  let count = 0;
  for (const one of document.querySelectorAll('[data-search]')) {
    one.hidden = !words.every((word) => one.dataset.search.includes(word));
    if (!one.hidden && contents.contains(one)) count += 1;
  }
  for (const list of contents.querySelectorAll('[data-closed]')) list.hidden = !isSearching;
  for (const group of document.querySelectorAll('[data-group]')) {
    group.hidden = group.querySelector('[data-search]:not([hidden])') === null;
  }
  for (const part of contents.querySelectorAll('[data-lasting]')) part.hidden = isSearching;
  main.classList.toggle('searching', isSearching);
  found.textContent = !isSearching ? '' : (count === 1 ? '1 operation is' : count + ' operations are') + ' in the contents';
  if (isSearching) show(true);
}

function show(open) {
  menu.setAttribute('aria-expanded', String(open));
  contents.classList.toggle('open', open);
}

let timer;
search.addEventListener('input', () => {
  clearTimeout(timer);
  timer = setTimeout(filter, 80);
});
search.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter') return;
  clearTimeout(timer);
  filter();
  if (search.value.trim() !== '') contents.querySelector('li[data-search]:not([hidden]) a')?.click();
});
menu.addEventListener('click', () => show(menu.getAttribute('aria-expanded') !== 'true'));
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    show(false);
    if (search.value !== '') { search.value = ''; filter(); show(false); }
  }
  if (event.key === '/' && document.activeElement !== search) {
    event.preventDefault();
    search.focus();
  }
});
document.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('a[href*="#"]') : null;
  if (link === null) return;
  if (search.value !== '') { search.value = ''; filter(); }
  show(false);
});

const base = location.origin + location.pathname.replace(/\\/docs\\/?$/, '');
for (const code of document.querySelectorAll('code.curl')) {
  code.textContent = code.textContent.replace(/^BASE=.*$/m, 'BASE=' + base);
}

async function copy(pre) {
  const text = pre.textContent;
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without HTTPS a browser gives no clipboard to scripts, but copies a selection.
    getSelection().selectAllChildren(pre);
    return document.execCommand('copy');
  }
}
for (const pre of document.querySelectorAll('pre')) {
  const frame = document.createElement('div');
  frame.className = 'copied';
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', 'Copy the example');
  button.addEventListener('click', async () => {
    button.textContent = (await copy(pre)) ? 'Copied' : 'Selected';
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  });
  pre.replaceWith(frame);
  frame.append(pre, button);
}

const links = new Map();
for (const link of contents.querySelectorAll('a[href^="#"]')) links.set(link.getAttribute('href').slice(1), link);
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
