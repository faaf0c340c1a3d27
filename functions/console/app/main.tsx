import { render } from 'preact';
import { keepSessionAlive, takeArrival } from './api/session.ts';
import { App } from './app.tsx';
import { followWatched } from './experiment/watched.ts';
import { applyTheme } from './theme/theme.ts';
import { loadStyle } from './ui/load-style.ts';

const root = document.getElementById('app');
if (root !== null) {
  // Remove the page's text for the time before this script runs.
  root.replaceChildren();
  const begin = () => {
    render(<App />, root);
    keepSessionAlive();
    followWatched();
  };
  takeArrival().then(begin, begin);
}
// The page works without the style sheet, so ignore a failure.
loadStyle().then(applyTheme, () => undefined);
