import { useRef, useState } from 'preact/hooks';
import type { Rights } from '../api/rights.ts';
import { useLive } from '../api/use-live.ts';
import { AskingButton } from '../ui/controls/asking-button.tsx';
import { Button } from '../ui/controls/button.tsx';
import { leaveEdits } from '../ui/edits.ts';
import { Loaded } from '../ui/states/loaded.tsx';
import { tell } from '../ui/states/notice.tsx';
import { plural } from '../ui/text/format.ts';
import { Deliveries } from './deliveries.tsx';
import { type Hook, loadHooks, removeHook, tryHook } from './hook-calls.ts';
import { HookForm } from './hook-form.tsx';

/** Receivers of messages about a project's events: what they hear of, a test, and the last messages. */
export function Hooks({ project_id, rights }: { project_id: string; rights: Rights }) {
  const live = useLive(`hooks/${project_id}`, () => loadHooks(project_id));
  /** Name of the hook that is being changed; blank for a new one. */
  const [edited, setEdited] = useState<string>();
  const [opened, setOpened] = useState<string>();
  const [secret, setSecret] = useState<{ name: string; secret: string }>();
  const list = useRef<HTMLDivElement>(null);
  const edit = (next: string | undefined) => leaveEdits(() => setEdited(next), list.current);
  const saved = async (name: string, made: string | null) => {
    setEdited(undefined);
    setSecret(made === null ? undefined : { name, secret: made });
    await live.refresh();
  };
  return (
    <Loaded live={live} rows={2} what="The hooks could not be loaded">
      {(hooks) => (
        <div ref={list}>
          {hooks.length === 0 && (
            <p class="soft small">
              None yet. A hook tells Slack, Discord, Teams or a program when an experiment fails, a sweep
              ends, or a model has a new version.
            </p>
          )}
          {secret !== undefined && (
            <div class="cautions" role="status">
              <div>
                <strong>
                  Messages of <bdi>{secret.name}</bdi> are signed with this secret
                </strong>
                <p>
                  <code class="hook-secret">{secret.secret}</code>
                </p>
                <p>It is shown only now. Give it to the receiver.</p>
              </div>
            </div>
          )}
          {hooks.map((hook) => (
            <div key={hook.name} class="entry">
              <Row
                project_id={project_id}
                hook={hook}
                rights={rights}
                isOpen={opened === hook.name}
                onOpen={() => setOpened(opened === hook.name ? undefined : hook.name)}
                onEdit={() => edit(edited === hook.name ? undefined : hook.name)}
                onChange={live.refresh}
              />
              {edited === hook.name && <HookForm project_id={project_id} hook={hook} onSaved={saved} />}
              {opened === hook.name && (
                <Deliveries project_id={project_id} name={hook.name} mayChange={rights.mayChange} />
              )}
            </div>
          ))}
          {rights.mayOwn &&
            (edited === '' ? (
              <HookForm project_id={project_id} hook={undefined} onSaved={saved} />
            ) : (
              <div class="bar-row after">
                <Button icon="plus" onClick={() => edit('')}>
                  Add a hook
                </Button>
              </div>
            ))}
        </div>
      )}
    </Loaded>
  );
}

function Row({
  project_id,
  hook,
  rights,
  isOpen,
  onOpen,
  onEdit,
  onChange,
}: {
  project_id: string;
  hook: Hook;
  rights: Rights;
  isOpen: boolean;
  onOpen: () => void;
  onEdit: () => void;
  onChange: () => Promise<void>;
}) {
  const [isTesting, setTesting] = useState(false);
  const { name, host, format, events, filter, disabled } = hook;
  const test = async () => {
    setTesting(true);
    try {
      const { status, attempts } = await tryHook(project_id, name);
      tell(
        status === 'delivered' ? 'The receiver took the message' : (attempts.at(-1)?.error ?? 'Not sent yet'),
      );
      if (!isOpen) onOpen();
    } catch (error) {
      tell(error instanceof Error ? error.message : String(error));
    } finally {
      setTesting(false);
    }
  };
  return (
    <>
      <div>
        <strong>
          <bdi>{name}</bdi>
        </strong>
        <p class="soft">
          {format}, <bdi>{host}</bdi>, {plural(events.length, 'event')}
          {filter !== null && (
            <>
              , where <code>{filter}</code>
            </>
          )}
        </p>
        {disabled !== null && <p class="why">Disabled. {disabled}</p>}
      </div>
      <div class="bar-row">
        {rights.mayChange && disabled === null && (
          <Button onClick={test} disabled={isTesting}>
            {isTesting ? 'Sending…' : 'Test'}
          </Button>
        )}
        <Button kind="quiet" expanded={isOpen} onClick={onOpen}>
          Messages
        </Button>
        {rights.mayOwn && (
          <>
            <Button kind="quiet" onClick={onEdit}>
              Change
            </Button>
            <AskingButton
              kind="quiet"
              icon="trash"
              label={`Delete ${name}`}
              title="Delete this hook?"
              action="Delete the hook"
              question={
                <>
                  <bdi>{host}</bdi> hears nothing more of this project.
                </>
              }
              onConfirm={() => removeHook(project_id, name).then(onChange)}
            />
          </>
        )}
      </div>
    </>
  );
}
