import { useState } from 'preact/hooks';
import { hasEnded } from '../../../../shared/data/sweeps/has-ended.ts';
import { cancel, pause, remove, resume, retry, type Sweep, type SweepPath } from '../api/sweeps.ts';
import { AskingButton } from '../ui/controls/asking-button.tsx';
import { Button } from '../ui/controls/button.tsx';
import { goOn, href } from '../ui/router.ts';
import { attempt, tell } from '../ui/states/notice.tsx';
import { plural } from '../ui/text/format.ts';
import { ExtendDialog } from './extend-dialog.tsx';

/** What somebody who may change the project does with a sweep. */
export function SweepActions({ sweep, onChange }: { sweep: Sweep; onChange: (next: Sweep) => void }) {
  const [isBusy, setBusy] = useState(false);
  const [isExtending, setExtending] = useState(false);
  const { project_id, sweep_id, name, status, counts } = sweep;
  const path = { project_id, sweep_id };
  const act = async (action: (path: SweepPath) => Promise<Sweep>): Promise<void> => {
    setBusy(true);
    await attempt(async () => onChange(await action(path)));
    setBusy(false);
  };
  return (
    <>
      {status === 'RUNNING' && (
        <Button icon="pause" disabled={isBusy} onClick={() => act(pause)}>
          Pause
        </Button>
      )}
      {status === 'PAUSED' && (
        <Button kind="primary" icon="play" disabled={isBusy} onClick={() => act(resume)}>
          Resume
        </Button>
      )}
      {counts.failed > 0 && status !== 'CANCELLED' && (
        <Button icon="again" disabled={isBusy} onClick={() => act(retry)}>
          Retry {counts.failed} failed
        </Button>
      )}
      {status !== 'CANCELLED' && (
        <Button icon="plus" onClick={() => setExtending(true)}>
          Extend
        </Button>
      )}
      {!hasEnded(sweep) ? (
        <AskingButton
          kind="danger"
          icon="stop"
          title="Cancel this sweep?"
          action="Cancel the sweep"
          question={
            counts.running > 0
              ? `${plural(counts.running, 'running experiment')} get 20 seconds to save and end. No further one begins.`
              : 'No further experiment begins.'
          }
          onConfirm={async () => onChange(await cancel(path))}
        >
          Cancel
        </AskingButton>
      ) : (
        <AskingButton
          kind="danger"
          icon="trash"
          label="Delete the sweep"
          title="Delete this sweep?"
          action="Delete the sweep"
          question={
            <>
              <bdi>{name}</bdi> is deleted. Its experiments stay in the project.
            </>
          }
          onConfirm={async () => {
            await remove(path);
            goOn(href(['projects', project_id, 'sweeps']));
            tell('The sweep is deleted. Its experiments stay.');
          }}
        />
      )}
      {isExtending && <ExtendDialog sweep={sweep} onChange={onChange} onClose={() => setExtending(false)} />}
    </>
  );
}
