import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { loadProject } from '../api/projects.ts';
import { useLive } from '../api/use-live.ts';
import { type AuditRow, loadAudit } from '../project/audit-calls.ts';
import { Button } from '../ui/controls/button.tsx';
import { Listing } from '../ui/listing.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { href } from '../ui/router.ts';
import { Empty } from '../ui/states/empty.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { attempt } from '../ui/states/notice.tsx';
import { Ago } from '../ui/text/ago.tsx';

const valueText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const valuesText = (values: AuditRow['after']): string =>
  Object.entries(values ?? {})
    .map(([name, value]) => `${name}: ${valueText(value)}`)
    .join(', ');

function Row({ row }: { row: AuditRow }) {
  const { at, username, ci, operation, subject, before, after, address } = row;
  return (
    <tr>
      <th scope="row">
        <bdi>{username ?? 'not signed in'}</bdi>
        {ci !== null && (
          <p class="soft small">
            <bdi>ci:{ci}</bdi>
          </p>
        )}
        <p class="soft small">{address}</p>
      </th>
      <td class="one-word">
        <Words of={operation} />
      </td>
      <td>
        <bdi>{valuesText(subject)}</bdi>
      </td>
      <td>
        {before !== null && (
          <del>
            <bdi>{valuesText(before)}</bdi>
          </del>
        )}{' '}
        <bdi>{valuesText(after)}</bdi>
      </td>
      <td class="right">
        <Ago time={at} />
      </td>
    </tr>
  );
}

/** Name of an operation, which may break between its words. */
const Words = ({ of: name }: { of: string }) => (
  <>
    {name.split(/(?=[A-Z])/).map((word, index) => (
      <Fragment key={index}>
        {index > 0 && <wbr />}
        {word}
      </Fragment>
    ))}
  </>
);

/** Page of who changed what: in a project for its owner, in the whole deployment for admins. */
export function AuditPage({ project_id }: { project_id?: string }) {
  const [later, setLater] = useState<{ rows: readonly AuditRow[]; next: string | undefined }>();
  const live = useLive(`audit/${project_id ?? ''}`, () => loadAudit(project_id));
  const more = async (from: string) => {
    await attempt(async () => {
      const { rows, next } = await loadAudit(project_id, from);
      setLater({ rows: [...(later?.rows ?? []), ...rows], next });
    });
  };
  const project = useLive(`project/${project_id ?? ''}`, async () =>
    project_id === undefined ? undefined : await loadProject(project_id),
  );
  const trail =
    project_id === undefined
      ? []
      : [
          { name: 'Projects', href: href(['projects']) },
          { name: project.data?.project_name ?? 'Project', href: href(['projects', project_id]) },
          { name: 'Settings', href: href(['projects', project_id, 'settings']) },
        ];
  return (
    <>
      <PageHead title="Audit" trail={trail} />
      <Loaded live={live} rows={10} what="The audit could not be loaded">
        {(first) => {
          const { next } = later ?? first;
          const rows = [...first.rows, ...(later?.rows ?? [])];
          return (
            <>
              {rows.length === 0 && <Empty title="Nothing was changed yet" icon="clock" />}
              <Listing
                label="Audit"
                headings={['Who', 'Operation', 'About', 'Change', { name: 'When', class: 'right' }]}
              >
                {rows.map((row) => (
                  <Row key={row.audit_id} row={row} />
                ))}
              </Listing>
              {next !== undefined && <Button onClick={() => more(next)}>Earlier</Button>}
            </>
          );
        }}
      </Loaded>
    </>
  );
}
