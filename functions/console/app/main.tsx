import { render } from 'preact';
import { keepSessionAlive } from './api/session.ts';
import { App } from './app.tsx';
import { loadStyle } from './ui/load-style.ts';

const root = document.getElementById('app');
if (root !== null) {
  // What the page says until this script is there.
  root.replaceChildren();
  render(<App />, root);
  keepSessionAlive();
}
// Without it the page works, and says nothing of it.
loadStyle().catch(() => undefined);
