import type { ComponentChildren } from 'preact';
import { awaySince } from '../api/poller.ts';
import { ownRights } from '../api/rights.ts';
import { person, serviceUrl, signOut } from '../api/session.ts';
import { leaveEdits } from '../ui/edits.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Picture } from '../ui/picture.tsx';
import { href, place } from '../ui/router.ts';
import { Notices } from '../ui/states/notice.tsx';
import { Keys, opened } from './keys.tsx';

interface Entry {
  id: string;
  name: string;
  icon: IconName;
}

const entries: readonly Entry[] = [
  { id: '', name: 'Home', icon: 'home' },
  { id: 'projects', name: 'Projects', icon: 'folder' },
  { id: 'models', name: 'Models', icon: 'cube' },
];
const adminEntries: readonly Entry[] = [
  { id: 'users', name: 'Users', icon: 'people' },
  { id: 'audit', name: 'Audit', icon: 'clock' },
];

const Away = () =>
  awaySince.value === undefined ? null : (
    <div class="away" role="status">
      <Icon name="warn" /> The service has been unreachable since {awaySince.value.toLocaleTimeString()}.
      Loaded data stays visible; the rest appears when the service is back.
    </div>
  );

/** Frame of every page: navigation and the signed-in user. */
export function Shell({ children }: { children: ComponentChildren }) {
  const [room = ''] = place.value.parts;
  // Names of MLflow's registry are listed with the models.
  const at = room === 'registry' ? 'models' : room;
  const who = person.value;
  const seen = ownRights().mayRead ? entries : entries.slice(0, 1);
  const shown = who?.account_type === 'admin' ? [...seen, ...adminEntries] : seen;
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <nav class="side" aria-label="Main">
        <a class="brand" href={href([])}>
          <svg width="28" height="28" viewBox="0 0 32 32" aria-hidden="true">
            <rect width="32" height="32" rx="8" class="brand-ground" />
            <path d="M6.500 22.500l6-8.500 5 5 8.500-11.500" class="brand-line" />
          </svg>
          <span>Model Project Service</span>
        </a>
        <ul>
          {shown.map(({ id, name, icon }) => (
            <li key={id}>
              <a href={href(id === '' ? [] : [id])} {...(id === at && { 'aria-current': 'page' as const })}>
                <Icon name={icon} size={18} />
                <span>{name}</span>
              </a>
            </li>
          ))}
        </ul>
        <ul class="lower">
          <li>
            <button type="button" onClick={() => (opened.value = 'palette')}>
              <Icon name="search" size={18} />
              <span>
                Search <kbd class="only-wide">Ctrl K</kbd>
              </span>
            </button>
          </li>
          <li class="only-wide">
            <button type="button" onClick={() => (opened.value = 'help')}>
              <Icon name="bolt" size={18} />
              <span>
                Shortcuts <kbd>?</kbd>
              </span>
            </button>
          </li>
          <li class="only-wide">
            <a href={`${serviceUrl}/docs`} target="_blank" rel="noreferrer">
              <Icon name="book" size={18} />
              <span>API reference</span>
            </a>
          </li>
          {who && (
            <li>
              <a href={href(['account'])} {...(at === 'account' && { 'aria-current': 'page' as const })}>
                <Picture username={who.username} size={22} />
                <span class="ellipsis">
                  <bdi>{who.username}</bdi>
                </span>
              </a>
            </li>
          )}
          <li class="only-wide">
            <button type="button" onClick={() => leaveEdits(() => void signOut())}>
              <Icon name="out" size={18} />
              <span>Sign out</span>
            </button>
          </li>
        </ul>
      </nav>
      <main id="main" tabIndex={-1}>
        <Away />
        {children}
      </main>
      <Notices />
      <Keys />
    </div>
  );
}
