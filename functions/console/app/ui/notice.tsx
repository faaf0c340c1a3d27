import { signal } from '@preact/signals';
import { Icon } from './icon.tsx';
import { problemText } from './parts.tsx';

interface Notice {
  id: number;
  text: string;
  isBad: boolean;
}

const notices = signal<readonly Notice[]>([]);
let count = 0;

/** Show a notice about a success or a failure. */
export function tell(text: string, isBad = false): void {
  count += 1;
  const notice = { id: count, text, isBad };
  notices.value = [...notices.value.slice(-2), notice];
  setTimeout(
    () => {
      notices.value = notices.value.filter(({ id }) => id !== notice.id);
    },
    isBad ? 12_000 : 4_000,
  );
}

/** Run an action and show its failure. Return whether it succeeded. */
export async function attempt(act: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await act();
    if (done !== undefined) tell(done);
    return true;
  } catch (error) {
    tell(problemText(error), true);
    return false;
  }
}

export const Notices = () => (
  <div class="notices" role="status" aria-live="polite">
    {notices.value.map(({ id, text, isBad }) => (
      <div key={id} class={isBad ? 'notice bad' : 'notice'}>
        <Icon name={isBad ? 'warn' : 'check'} />
        {text}
      </div>
    ))}
  </div>
);
