import { useRef, useState } from 'preact/hooks';
import { useLive } from '../api/use-live.ts';
import { AskingButton } from '../ui/controls/asking-button.tsx';
import { Button } from '../ui/controls/button.tsx';
import { leaveEdits } from '../ui/edits.ts';
import { href } from '../ui/router.ts';
import { Loaded } from '../ui/states/loaded.tsx';
import { attempt } from '../ui/states/notice.tsx';
import { Ago } from '../ui/text/ago.tsx';
import { cronWords } from './cron-words.ts';
import {
  loadSchedules,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
  type Schedule,
} from './schedule-calls.ts';
import { ScheduleForm } from './schedule-form.tsx';

/** Trainings of a project that repeat by the clock: when, what came of the last one, and whether they go on. */
export function Schedules({ project_id, mayChange }: { project_id: string; mayChange: boolean }) {
  const live = useLive(`schedules/${project_id}`, () => loadSchedules(project_id));
  const [edited, setEdited] = useState<string>();
  const list = useRef<HTMLDivElement>(null);
  const saved = async () => {
    setEdited(undefined);
    await live.refresh();
  };
  return (
    <Loaded live={live} rows={2} what="The schedules could not be loaded">
      {(schedules) => (
        <div ref={list}>
          {schedules.length === 0 && (
            <p class="soft small">
              None yet. <code>mps schedule "0 3 * * 1-5" -- python retrain.py</code> in a folder trains it
              again and again.
            </p>
          )}
          {schedules.map((schedule) => {
            const { schedule_id } = schedule;
            return (
              <div key={schedule_id} class="entry">
                <Facts schedule={schedule} />
                {mayChange && (
                  <Actions
                    schedule={schedule}
                    onEdit={() =>
                      leaveEdits(
                        () => setEdited(edited === schedule_id ? undefined : schedule_id),
                        list.current,
                      )
                    }
                    onChange={live.refresh}
                  />
                )}
                {edited === schedule_id && <ScheduleForm schedule={schedule} onSaved={saved} />}
              </div>
            );
          })}
        </div>
      )}
    </Loaded>
  );
}

function Facts({ schedule }: { schedule: Schedule }) {
  const { project_id, name, cron, zone, next_at, status_reason, recent, username, command } = schedule;
  const [last] = recent;
  return (
    <div>
      <div class="chips">
        <strong>
          <bdi>{name}</bdi>
        </strong>
        {next_at === null ? (
          <span class="tone-warn status">{status_reason ?? 'Paused.'}</span>
        ) : (
          <span class="soft">next {zoneTime(next_at, zone)}</span>
        )}
      </div>
      <p class="soft">
        {cronWords(cron)} ({zone}), as <bdi>{username}</bdi>: <code>{command}</code>
      </p>
      {last !== undefined && (
        <p class="soft">
          Last{' '}
          {last.experiment_id === null ? (
            last.result
          ) : (
            <a href={href(['projects', project_id, 'experiments', last.experiment_id])}>{last.result}</a>
          )}
          , <Ago time={last.at} />
          {last.reason !== null && <>: {last.reason}</>}
        </p>
      )}
    </div>
  );
}

/** Return a time on the clocks of the schedule's zone. */
const zoneTime = (time: string, timeZone: string): string =>
  new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short', timeZone });

function Actions({
  schedule,
  onEdit,
  onChange,
}: {
  schedule: Schedule;
  onEdit: () => void;
  onChange: () => Promise<void>;
}) {
  const { name, status } = schedule;
  const act = (change: (schedule: Schedule) => Promise<unknown>) =>
    attempt(async () => {
      await change(schedule);
      await onChange();
    });
  return (
    <div class="bar-row">
      {status === 'ACTIVE' ? (
        <Button onClick={() => act(pauseSchedule)}>Pause</Button>
      ) : (
        <Button onClick={() => act(resumeSchedule)}>Resume as yourself</Button>
      )}
      <Button kind="quiet" onClick={onEdit}>
        Change
      </Button>
      <AskingButton
        kind="quiet"
        icon="trash"
        label={`Delete ${name}`}
        title="Delete this schedule?"
        action="Delete the schedule"
        question="No further run begins. Its experiments stay."
        onConfirm={() => removeSchedule(schedule).then(onChange)}
      />
    </div>
  );
}
