import { useState } from 'preact/hooks';
import { loadUsers, type Member, setMember } from '../api/people.ts';
import { useLive } from '../api/use-live.ts';
import { SelectField } from '../ui/controls/field.tsx';
import { Form } from '../ui/controls/form.tsx';
import { tell } from '../ui/states/notice.tsx';

const roles = { developer: 'developer', viewer: 'viewer' } as const;

/** Form to share a project with one of the users who are not yet members. */
export function ShareForm({
  project_id,
  members,
  onShare,
}: {
  project_id: string;
  members: readonly Member[];
  onShare: () => Promise<unknown>;
}) {
  const users = useLive('users-to-share', loadUsers, { isKept: true });
  const [name, setName] = useState('');
  const [role, setRole] = useState<keyof typeof roles>('developer');
  const present = new Set(members.map(({ user_id }) => user_id));
  const others = (users.data ?? [])
    .filter(({ user_id }) => !present.has(user_id))
    .sort((a, b) => a.username.localeCompare(b.username));
  if (users.data !== undefined && others.length === 0)
    return <p class="soft small">Every user is a member already.</p>;
  return (
    <Form
      action="Share"
      isReady={name !== ''}
      onSubmit={async () => {
        await setMember(project_id, name, role);
        tell(`The project is shared with ${name}`);
        setName('');
        await onShare();
      }}
    >
      <div class="field-row">
        <SelectField<string>
          label="User"
          options={[
            ['', 'Choose a user'],
            ...others.map(
              ({ username, account_type }) => [username, `${username} (${account_type})`] as const,
            ),
          ]}
          value={name}
          onChoose={setName}
        />
        <SelectField label="Role" options={roles} value={role} onChoose={setRole} />
      </div>
    </Form>
  );
}
