import { useMemo, useState } from 'preact/hooks';
import { loadDeletedProjects, restoreProject } from '../api/deletions.ts';
import { type ListedProject, loadCriteria, loadProjects, newProject } from '../api/projects.ts';
import { countLive } from '../api/recent.ts';
import { ownRights } from '../api/rights.ts';
import { useLive } from '../api/use-live.ts';
import { Button } from '../ui/controls/button.tsx';
import { Dialog } from '../ui/controls/dialog.tsx';
import { Field } from '../ui/controls/field.tsx';
import { Form } from '../ui/controls/form.tsx';
import { Icon } from '../ui/icon.tsx';
import { Listing } from '../ui/listing.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { go, href, place, setQuery } from '../ui/router.ts';
import { useShowMore } from '../ui/show-more.tsx';
import { Empty } from '../ui/states/empty.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { attempt } from '../ui/states/notice.tsx';
import { Ago } from '../ui/text/ago.tsx';
import { plural } from '../ui/text/format.ts';

function NewProject({ onClose }: { onClose: () => void }) {
  const criteria = useLive('criteria', loadCriteria);
  const [fields, setFields] = useState({
    name: '',
    description: '',
    type: 'supervised',
    task: 'classification',
  });
  const set = (name: keyof typeof fields) => (event: { currentTarget: { value: string } }) =>
    setFields({ ...fields, [name]: event.currentTarget.value });
  const tasks = [...new Set(criteria.data?.flatMap((criterion) => criterion.tasks) ?? [])].sort();
  const create = async () => {
    const { project_id } = await newProject({ ...fields, description: fields.description || fields.name });
    go(href(['projects', project_id]));
  };
  return (
    <Dialog title="New project" onClose={onClose}>
      <Form action="Create project" isReady={fields.name.trim() !== ''} onSubmit={create}>
        <Field label="Name">
          {(attributes) => (
            <input {...attributes} value={fields.name} maxLength={128} onInput={set('name')} />
          )}
        </Field>
        <Field label="Description" hint="One sentence for other users.">
          {(attributes) => (
            <textarea
              {...attributes}
              rows={2}
              maxLength={2000}
              value={fields.description}
              onInput={set('description')}
            />
          )}
        </Field>
        <div class="field-row">
          <Field label="Type">
            {(attributes) => (
              <input {...attributes} value={fields.type} maxLength={64} onInput={set('type')} />
            )}
          </Field>
          <Field label="Task" hint="Determines the metric that ranks experiments.">
            {(attributes) => (
              <>
                <input
                  {...attributes}
                  list="tasks"
                  value={fields.task}
                  maxLength={64}
                  onInput={set('task')}
                />
                <datalist id="tasks">
                  {tasks.map((task) => (
                    <option key={task} value={task} />
                  ))}
                </datalist>
              </>
            )}
          </Field>
        </div>
      </Form>
    </Dialog>
  );
}

const columns = [
  { id: 'name', name: 'Project', value: ({ project_name }: ListedProject) => project_name.toLowerCase() },
  { id: 'experiments', name: 'Experiments', value: ({ experiments }: ListedProject) => -experiments },
  { id: 'criterion', name: 'Ranked by', value: ({ criterion }: ListedProject) => criterion },
  { id: 'owner', name: 'Owner', value: ({ owner }: ListedProject) => owner ?? '' },
  { id: 'updated', name: 'Last change', value: ({ updated_at }: ListedProject) => -Date.parse(updated_at) },
] as const;

const sortedBy = (projects: readonly ListedProject[], id: string | null): ListedProject[] => {
  const { value } = columns.find((column) => column.id === id) ?? columns[4];
  const key = new Map(projects.map((project) => [project, value(project)]));
  return [...projects].sort((a, b) => ((key.get(a) ?? '') < (key.get(b) ?? '') ? -1 : 1));
};

/** One row for each project, the latest change first. A click at the head of a column sorts by it. */
function ProjectTable({ projects }: { projects: readonly ListedProject[] }) {
  const live = useLive('live-counts', countLive, { every: () => 30_000 });
  const sort = place.value.query.get('sort') ?? 'updated';
  const sorted = useMemo(() => sortedBy(projects, sort), [projects, sort]);
  const [first, more] = useShowMore(sorted, 300, 'projects');
  return (
    <>
      <Listing
        label="Projects"
        headings={columns.map(({ id, name }) => ({
          name: (
            <button type="button" onClick={() => setQuery({ sort: id })}>
              {name}
            </button>
          ),
          class: id === 'experiments' || id === 'updated' ? 'right' : '',
          ...(id === sort && { 'aria-sort': 'other' }),
        }))}
      >
        {first.map((project) => (
          <ProjectRow
            key={project.project_id}
            project={project}
            active={live.data?.get(project.project_id)}
          />
        ))}
      </Listing>
      {more}
    </>
  );
}

const ProjectRow = ({ project, active }: { project: ListedProject; active: number | undefined }) => {
  const { project_id, project_name, project_description, experiments } = project;
  return (
    <tr>
      <th scope="row">
        <a href={href(['projects', project_id])}>
          <bdi>{project_name}</bdi>
        </a>{' '}
        {active !== undefined && <Active count={active} />}
        {project_description !== project_name && <p class="soft small clamp">{project_description}</p>}
      </th>
      <td class="right number">{experiments.toLocaleString('en')}</td>
      <td>
        <bdi>{project.criterion}</bdi>
      </td>
      <td>
        <bdi>{project.owner ?? 'nobody'}</bdi>
      </td>
      <td class="right number soft">
        <Ago time={project.updated_at} />
      </td>
    </tr>
  );
};

/** Number of a project's experiments that have not ended, like the state of a running one. */
const Active = ({ count }: { count: number }) => (
  <span class="status tone-accent live">
    <Icon name="play" size={13} />
    {count.toLocaleString('en')} active
  </span>
);

/** Deleted projects of this user, which can be restored. It takes no room while there are none. */
function DeletedProjects({ onRestore }: { onRestore: () => Promise<void> }) {
  const live = useLive('deleted-projects', loadDeletedProjects);
  const deleted = live.data ?? [];
  if (deleted.length === 0) return null;
  return (
    <details class="deleted-projects">
      <summary class="soft small">{plural(deleted.length, 'deleted project')}</summary>
      <ul>
        {deleted.map(({ project_id, project_name, deleted_at }) => (
          <li key={project_id} class="bar-row">
            <bdi>{project_name}</bdi>
            <span class="soft small">
              deleted <Ago time={deleted_at} />
            </span>
            <Button
              kind="quiet"
              onClick={() =>
                attempt(async () => {
                  await restoreProject(project_id);
                  await Promise.all([live.refresh(), onRestore()]);
                }, `${project_name} is restored.`)
              }
            >
              Restore
            </Button>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Page of all projects, the latest change first, with a search box. */
export function ProjectsPage() {
  const live = useLive('projects', loadProjects, { every: () => 30_000 });
  const { query } = place.value;
  const wanted = (query.get('q') ?? '').toLowerCase();
  const { mayCreate } = ownRights();
  return (
    <>
      <PageHead title="Projects">
        <search class="filter-box">
          <input
            type="search"
            aria-label="Find projects"
            placeholder="Name, task or owner"
            value={query.get('q') ?? ''}
            onInput={({ currentTarget }) => setQuery({ q: currentTarget.value })}
          />
        </search>
        {mayCreate && (
          <Button kind="primary" icon="plus" onClick={() => setQuery({ new: '1' })}>
            New project
          </Button>
        )}
      </PageHead>
      {query.has('new') && mayCreate && <NewProject onClose={() => setQuery({ new: undefined })} />}
      {mayCreate && <DeletedProjects onRestore={live.refresh} />}
      <Loaded live={live} rows={8} what="The projects could not be loaded">
        {(projects) => {
          const shown = projects.filter((project) =>
            `${project.project_name} ${project.project_task} ${project.owner ?? ''} ${project.project_description}`
              .toLowerCase()
              .includes(wanted),
          );
          if (projects.length === 0)
            return (
              <Empty title="There are no projects yet">
                <p>
                  A project keeps configurations, an environment, data sets and experiments.{' '}
                  <code>mps run</code> in a folder creates one automatically.
                </p>
              </Empty>
            );
          if (shown.length === 0)
            return (
              <Empty title="No project matches" icon="search">
                <Button onClick={() => setQuery({ q: undefined })}>Show all</Button>
              </Empty>
            );
          return <ProjectTable projects={shown} />;
        }}
      </Loaded>
    </>
  );
}
