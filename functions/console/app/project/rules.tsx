import { useRef, useState } from 'preact/hooks';
import { ruleText } from '../../../../shared/run-rules/rule-text.ts';
import type { RunRule } from '../../../../shared/run-rules/run-rule.ts';
import type { ProjectDetails } from '../api/answers.ts';
import { changeProject } from '../api/projects.ts';
import { AskingButton } from '../ui/controls/asking-button.tsx';
import { Button } from '../ui/controls/button.tsx';
import { leaveEdits } from '../ui/edits.ts';
import { tell } from '../ui/states/notice.tsx';
import { RuleForm } from './rule-form.tsx';

/** Rules under which the later runs of a project begin. */
export function Rules({
  project,
  mayChange,
  onChange,
}: {
  project: ProjectDetails;
  mayChange: boolean;
  onChange: () => Promise<void>;
}) {
  /** Position of the rule that is being changed; the length of the list for a new one. */
  const [edited, setEdited] = useState<number>();
  const list = useRef<HTMLDivElement>(null);
  const edit = (next: number | undefined) => leaveEdits(() => setEdited(next), list.current);
  const { rules } = project;
  const metrics = project.metrics.map(({ name }) => name);
  const store = async (next: readonly RunRule[], told: string) => {
    try {
      await storeRules(project, next);
    } finally {
      await onChange();
    }
    setEdited(undefined);
    tell(told);
  };
  return (
    <div ref={list}>
      {rules.length === 0 && (
        <p class="soft small">
          None yet. A rule stops a run, or tells the hooks, when its loss is NaN, it no longer improves, or
          its machine is idle.
        </p>
      )}
      {rules.map((rule, index) => (
        <div key={`${index} ${ruleText(rule)}`} class="entry">
          <div>
            <code>{ruleText(rule)}</code>{' '}
            <span class="soft">{rule.do === 'stop' ? 'stops the run' : 'tells the hooks'}</span>
          </div>
          {mayChange && (
            <div class="bar-row">
              <Button
                kind="quiet"
                label={`Change ${ruleText(rule)}`}
                expanded={edited === index}
                onClick={() => edit(edited === index ? undefined : index)}
              >
                Change
              </Button>
              <AskingButton
                kind="quiet"
                icon="trash"
                label={`Delete ${ruleText(rule)}`}
                title="Delete this rule?"
                action="Delete the rule"
                question="Later runs begin without it. Runs that have begun keep it."
                onConfirm={() => store(rules.toSpliced(index, 1), 'The rule is deleted')}
              />
            </div>
          )}
          {edited === index && (
            <RuleForm
              rule={rule}
              index={index}
              metrics={metrics}
              onSave={(next) => store(rules.with(index, next), 'Later runs begin with the changed rule')}
            />
          )}
        </div>
      ))}
      {mayChange &&
        (edited === rules.length ? (
          <RuleForm
            rule={undefined}
            index={rules.length}
            metrics={metrics}
            onSave={(next) => store([...rules, next], 'Later runs begin with this rule')}
          />
        ) : (
          <div class="bar-row after">
            <Button icon="plus" onClick={() => edit(rules.length)}>
              Add a rule
            </Button>
          </div>
        ))}
    </div>
  );
}

/**
 * Replace the rules of a project. Other changes of the project do not matter.
 * @throws Error if another user changed the rules first
 */
async function storeRules(project: ProjectDetails, rules: readonly RunRule[]): Promise<void> {
  let base: ProjectDetails | undefined = project;
  while (base !== undefined) {
    if (JSON.stringify(base.rules) !== JSON.stringify(project.rules))
      throw new Error('Another user has changed the rules. Look at them, and try again.');
    base = await changeProject(project.project_id, { rules: [...rules] }, base.updated_at);
  }
}
