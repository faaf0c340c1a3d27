import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../../../shared/client/route.ts';
import type { endpoint as putProjectBudget } from '../../../projects/budget/put-project-budget.endpoint.ts';
import type { endpoint as readProjectBudget } from '../../../projects/budget/read-project-budget.endpoint.ts';
import type { endpoint as putUserBudget } from '../../../users/budget/put-user-budget.endpoint.ts';
import type { endpoint as readUserBudget } from '../../../users/budget/read-user-budget.endpoint.ts';
import { call } from '../api/calls.ts';
import { useLive } from '../api/use-live.ts';
import { Form } from '../ui/controls/form.tsx';
import { TextField } from '../ui/controls/text-field.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { tell } from '../ui/states/notice.tsx';
import { costText } from '../ui/text/format.ts';

type Budget = AnswerOf<typeof readProjectBudget>;

interface Source {
  key: string;
  load(): Promise<Budget>;
  save(amount: number | null): Promise<Budget>;
}

const ofProject = (project_id: string): Source => ({
  key: `budget/${project_id}`,
  load: () => call<typeof readProjectBudget>('GET /projects/{project_id}/budget', { path: { project_id } }),
  save: (amount) =>
    call<typeof putProjectBudget>('PUT /projects/{project_id}/budget', {
      path: { project_id },
      body: { amount },
    }),
});

const ofUser = (user_id: string): Source => ({
  key: `user-budget/${user_id}`,
  load: () => call<typeof readUserBudget>('GET /users/{user_id}/budget', { path: { user_id } }),
  save: (amount) =>
    call<typeof putUserBudget>('PUT /users/{user_id}/budget', { path: { user_id }, body: { amount } }),
});

/** What a project may cost in a month, and what it has. */
export const ProjectBudget = ({ project_id, mayOwn }: { project_id: string; mayOwn: boolean }) => (
  <MonthBudget source={ofProject(project_id)} mayChange={mayOwn} />
);

/** The same for the jobs of a user. Only admins change it. */
export const UserBudget = ({ user_id }: { user_id: string }) => (
  <MonthBudget source={ofUser(user_id)} mayChange />
);

function MonthBudget({ source, mayChange }: { source: Source; mayChange: boolean }) {
  const live = useLive(source.key, source.load);
  const [text, setText] = useState<string>();
  return (
    <Loaded live={live} rows={2} what="The budget could not be loaded">
      {(budget) => {
        const present = budget.amount === null ? '' : String(budget.amount);
        const save = async () => {
          const wanted = (text ?? present).trim();
          const next = await source.save(wanted === '' ? null : Number(wanted));
          live.set(next);
          setText(undefined);
          tell(next.amount === null ? 'There is no budget any more' : 'The budget is stored');
        };
        return (
          <>
            <BudgetFacts budget={budget} />
            {mayChange && (
              <Form
                action="Save the budget"
                onSubmit={save}
                isReady={text !== undefined && text.trim() !== present}
              >
                <TextField
                  label="Budget a month (US$)"
                  hint="Blank for none. Once it is used up, what runs saves its checkpoints and ends."
                  inputMode="decimal"
                  value={text ?? present}
                  onText={setText}
                />
              </Form>
            )}
          </>
        );
      }}
    </Loaded>
  );
}

const BudgetFacts = ({ budget: { amount, month, spent, reserved, left } }: { budget: Budget }) => (
  <dl class="facts budget-facts">
    <dt>Budget</dt>
    <dd>{amount === null ? 'none' : `${costText(amount)} a month`}</dd>
    <dt>Spent in {month}</dt>
    <dd>{spent === 0 ? '$0' : costText(spent)}</dd>
    {reserved > 0 && (
      <>
        <dt>Reserved</dt>
        <dd>{costText(reserved)} for what runs and waits</dd>
      </>
    )}
    {left !== null && (
      <>
        <dt>Left</dt>
        <dd>{left <= 0 ? 'nothing' : costText(left)}</dd>
      </>
    )}
  </dl>
);
