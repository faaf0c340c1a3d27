import { signal } from '@preact/signals';
import { Button } from '../controls/button.tsx';
import { Icon } from '../icon.tsx';
import { problemText } from './problem.tsx';

interface Notice {
  id: number;
  text: string;
  isBad: boolean;
  action?: NoticeAction | undefined;
}

/** Button of a notice, such as Undo. */
export interface NoticeAction {
  name: string;
  act: () => Promise<unknown>;
}

const notices = signal<readonly Notice[]>([]);
let count = 0;

const dismiss = (id: number): void => {
  notices.value = notices.value.filter((one) => one.id !== id);
};

/** Show a notice about a success or a failure. One with an action stays longer. */
export function tell(text: string, isBad = false, action?: NoticeAction): void {
  count += 1;
  const notice = { id: count, text, isBad, action };
  notices.value = [...notices.value.slice(-2), notice];
  setTimeout(() => dismiss(notice.id), isBad || action !== undefined ? 12_000 : 4_000);
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
    {notices.value.map(({ id, text, isBad, action }) => (
      <div key={id} class={isBad ? 'notice bad' : 'notice'}>
        <Icon name={isBad ? 'warn' : 'check'} />
        {text}
        {action && (
          <Button
            kind="quiet"
            shortcut="u"
            onClick={() => {
              dismiss(id);
              return attempt(action.act);
            }}
          >
            {action.name}
          </Button>
        )}
      </div>
    ))}
  </div>
);
