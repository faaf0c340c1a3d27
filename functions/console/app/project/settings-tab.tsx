import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { bytesText } from '../../../../shared/core/text/bytes-text.ts';
import { usualGoal } from '../../../../shared/metrics/criteria.ts';
import type { ProjectDetails } from '../api/answers.ts';
import { deleteProjectFor30Days, restoreProject } from '../api/deletions.ts';
import { loadMembers, removeMember } from '../api/people.ts';
import { changeProject } from '../api/projects.ts';
import type { Rights } from '../api/rights.ts';
import { useLive } from '../api/use-live.ts';
import { Hooks } from '../hooks/hooks.tsx';
import { Schedules } from '../schedules/schedules.tsx';
import { AskingButton } from '../ui/controls/asking-button.tsx';
import { Button, LinkButton } from '../ui/controls/button.tsx';
import { Confirm } from '../ui/controls/dialog.tsx';
import { SelectField } from '../ui/controls/field.tsx';
import { Form } from '../ui/controls/form.tsx';
import { TextField } from '../ui/controls/text-field.tsx';
import { go, goOn, href } from '../ui/router.ts';
import { type PagePart, Sections } from '../ui/sections.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { tell } from '../ui/states/notice.tsx';
import { Ago } from '../ui/text/ago.tsx';
import { plural } from '../ui/text/format.ts';
import { ProjectBudget } from './budget.tsx';
import { Links } from './links.tsx';
import { Rules } from './rules.tsx';
import { ShareForm } from './share-form.tsx';
import { Variables } from './variables.tsx';

const goals = { maximize: 'the highest value', minimize: 'the lowest value' } as const;

function About({ project, onChange }: { project: ProjectDetails; onChange: () => Promise<void> }) {
  const [fields, setFields] = useState({
    project_name: project.project_name,
    project_description: project.project_description,
    project_type: project.project_type,
    project_task: project.project_task,
    criterion: project.criterion,
    criterion_goal: project.criterion_goal,
  });
  const [theirs, setTheirs] = useState<ProjectDetails>();
  const { criterion, criterion_goal, ...texts } = fields;
  const isRanked = criterion !== project.criterion || criterion_goal !== project.criterion_goal;
  const changed = {
    ...Object.fromEntries(
      Object.entries(texts).filter(([name, value]) => value !== project[name as keyof typeof texts]),
    ),
    ...(isRanked && { criterion, criterion_goal }),
  };
  const save = async () => {
    const base = theirs ?? project;
    const present = await changeProject(project.project_id, changed, base.updated_at);
    // Another user changed the project first. Keep the typed text and base the next attempt on the present state.
    setTheirs(present);
    if (present !== undefined) return;
    await onChange();
    tell('The project is changed');
  };
  const input = (
    name: Exclude<keyof typeof fields, 'criterion' | 'criterion_goal'>,
    label: string,
    most: number,
  ) => (
    <TextField
      label={label}
      maxLength={most}
      value={fields[name]}
      onText={(text) => setFields({ ...fields, [name]: text })}
    />
  );
  return (
    <Form
      action={theirs === undefined ? 'Save' : 'Save mine'}
      isReady={Object.keys(changed).length > 0}
      onSubmit={save}
      wide
    >
      {theirs !== undefined && (
        <div class="problem" role="alert">
          <div>
            <strong>Another user has changed this project</strong>
            <p>
              It is now called “<bdi>{theirs.project_name}</bdi>”, with the description “
              <bdi>{theirs.project_description}</bdi>”. Your text is still below. Save again to replace the
              other user's text with it.
            </p>
          </div>
        </div>
      )}
      {input('project_name', 'Name', 128)}
      {input('project_description', 'Description', 2000)}
      <div class="field-row">
        {input('project_type', 'Type', 64)}
        {input('project_task', 'Task', 64)}
      </div>
      <div class="field-row">
        <TextField
          label="Ranked by the metric"
          maxLength={128}
          value={fields.criterion}
          onText={(criterion) =>
            // Set the usual goal of the criterion: maximizing a loss would rank the worst run first.
            setFields({ ...fields, criterion, criterion_goal: usualGoal(criterion) ?? fields.criterion_goal })
          }
        />
        <SelectField
          label="Best is"
          options={goals}
          value={fields.criterion_goal}
          onChoose={(criterion_goal) => setFields({ ...fields, criterion_goal })}
        />
      </div>
    </Form>
  );
}

/** Settings of a project, read-only. */
const AboutFacts = ({ project }: { project: ProjectDetails }) => (
  <dl class="facts">
    <dt>Description</dt>
    <dd>
      <bdi>{project.project_description}</bdi>
    </dd>
    <dt>Type</dt>
    <dd>
      <bdi>{project.project_type}</bdi>
    </dd>
    <dt>Task</dt>
    <dd>
      <bdi>{project.project_task}</bdi>
    </dd>
  </dl>
);

function Members({ project_id, mayOwn }: { project_id: string; mayOwn: boolean }) {
  const live = useLive(`members/${project_id}`, () => loadMembers(project_id));
  return (
    <Loaded live={live} rows={2} what="The members could not be loaded">
      {(members) => (
        <>
          <table class="data">
            <tbody>
              {members.map((member) => (
                <tr key={member.user_id}>
                  <th scope="row">
                    <bdi>{member.username}</bdi>
                  </th>
                  <td>{member.role}</td>
                  <td class="right">
                    {mayOwn && member.role !== 'owner' && (
                      <AskingButton
                        kind="quiet"
                        icon="close"
                        label={`Remove ${member.username}`}
                        title="Remove this member?"
                        action="Remove the member"
                        question={
                          <>
                            <bdi>{member.username}</bdi> can no longer change this project.
                          </>
                        }
                        onConfirm={() => removeMember(project_id, member.username).then(live.refresh)}
                      />
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {mayOwn && <ShareForm project_id={project_id} members={members} onShare={live.refresh} />}
        </>
      )}
    </Loaded>
  );
}

/** Tab of a project's settings, members and deletion. */
export function SettingsTab({
  project,
  rights,
  onChange,
}: {
  project: ProjectDetails;
  rights: Rights;
  onChange: () => Promise<void>;
}) {
  const [isDeleting, setDeleting] = useState(false);
  const { project_id, project_name, experiments, bytes } = project;
  const { mayOwn, mayChange } = rights;
  const part = (name: string, content: ComponentChildren): PagePart => ({
    id: name.toLowerCase(),
    name,
    content: (
      <section class="panel">
        <h2>{name}</h2>
        {content}
      </section>
    ),
  });
  const about = mayChange ? (
    <About project={project} onChange={onChange} />
  ) : (
    <AboutFacts project={project} />
  );
  const parts: PagePart[] = [
    part('About', about),
    part('Members', <Members project_id={project_id} mayOwn={mayOwn} />),
    {
      id: 'variables',
      name: 'Variables and secrets',
      content: <Variables project_id={project_id} mayOwn={mayOwn} />,
    },
    part('Rules', <Rules project={project} mayChange={mayChange} onChange={onChange} />),
    part('Schedules', <Schedules project_id={project_id} mayChange={mayChange} />),
    part('Hooks', <Hooks project_id={project_id} rights={rights} />),
    part('Budget', <ProjectBudget project_id={project_id} mayOwn={mayOwn} />),
    part('Facts', <ProjectFacts project={project} />),
  ];
  if (mayOwn)
    parts.push(
      part('Links', <Links project_id={project_id} />),
      part('Audit', <AuditLink project_id={project_id} />),
      { id: 'delete', name: 'Delete', content: <DeletePart onDelete={() => setDeleting(true)} /> },
    );
  return (
    <>
      <Sections label="Settings" parts={parts} />
      {isDeleting && (
        <Confirm
          title="Delete this project?"
          action="Delete"
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await deleteProjectFor30Days(project_id);
            goOn(href(['projects']));
            tell(`${project_name} is deleted, restorable for 30 days.`, false, {
              name: 'Undo',
              async act() {
                await restoreProject(project_id);
                go(href(['projects', project_id]));
              },
            });
          }}
        >
          <p>
            <bdi>{project_name}</bdi> with {plural(experiments, 'experiment')} and {bytesText(bytes)} of files
            is deleted. It can be restored for 30 days.
          </p>
        </Confirm>
      )}
    </>
  );
}

const AuditLink = ({ project_id }: { project_id: string }) => (
  <>
    <p class="soft small">Who changed what in the project, when and from where.</p>
    <div class="bar-row after">
      <LinkButton href={href(['projects', project_id, 'audit'])} icon="clock">
        Show the audit
      </LinkButton>
    </div>
  </>
);

const DeletePart = ({ onDelete }: { onDelete: () => void }) => (
  <section class="panel danger">
    <h2>Delete the project</h2>
    <p class="soft small">
      Deletes the project with all its experiments, artifacts, data sets and configurations. It can be
      restored for 30 days.
    </p>
    <div class="bar-row after">
      <Button kind="danger" icon="trash" onClick={onDelete}>
        Delete the project
      </Button>
    </div>
  </section>
);

const ProjectFacts = ({ project }: { project: ProjectDetails }) => (
  <dl class="facts">
    <dt>Id</dt>
    <dd>
      <code>{project.project_id}</code>
    </dd>
    <dt>Owner</dt>
    <dd>
      <bdi>{project.owner ?? 'nobody'}</bdi>
    </dd>
    <dt>Created</dt>
    <dd>
      <Ago time={project.created_at} />
    </dd>
    <dt>Ranked by</dt>
    <dd>
      {project.criterion}, {project.criterion_goal}d
    </dd>
    <dt>Size</dt>
    <dd>
      {plural(project.experiments, 'experiment')}, {plural(project.configs, 'configuration')},{' '}
      {bytesText(project.bytes)} of {bytesText(project.limit_bytes)}
    </dd>
  </dl>
);
