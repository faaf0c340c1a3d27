import { useState } from 'preact/hooks';
import {
  type AccountType,
  accountTypes,
  addUser,
  loadUsers,
  removeUser,
  setType,
  type User,
} from '../api/people.ts';
import { person } from '../api/session.ts';
import { useLive } from '../api/use-live.ts';
import { Button } from '../ui/controls/button.tsx';
import { Confirm, Dialog } from '../ui/controls/dialog.tsx';
import { SelectField } from '../ui/controls/field.tsx';
import { Form } from '../ui/controls/form.tsx';
import { TextField } from '../ui/controls/text-field.tsx';
import { hiddenHeading, Listing } from '../ui/listing.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { Picture } from '../ui/picture.tsx';
import { Empty } from '../ui/states/empty.tsx';
import { lazy } from '../ui/states/lazy.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { attempt } from '../ui/states/notice.tsx';
import { Ago } from '../ui/text/ago.tsx';
import { plural } from '../ui/text/format.ts';
import { useNarrow } from '../ui/use-narrow.ts';

const typeOf = (text: string): AccountType => accountTypes.find((type) => type === text) ?? 'guest';

const UserBudget = lazy(() => import('../project/budget.tsx').then((module) => module.UserBudget));

function NewUser({ onClose, onDone }: { onClose: () => void; onDone: () => Promise<void> }) {
  const [fields, setFields] = useState({
    username: '',
    password: '',
    account_type: 'developer' as AccountType,
  });
  return (
    <Dialog title="New user" onClose={onClose}>
      <Form
        action="Create the user"
        onSubmit={async () => {
          await addUser(fields);
          await onDone();
          onClose();
        }}
      >
        <TextField
          label="Name"
          hint="Lower-case letters, digits, dots, hyphens and underscores."
          autocapitalize="none"
          autocomplete="off"
          value={fields.username}
          onText={(text) => setFields({ ...fields, username: text })}
        />
        <TextField
          label="Password"
          hint="At least 8 characters. They can change it themselves."
          isPassword
          autocomplete="new-password"
          value={fields.password}
          onText={(text) => setFields({ ...fields, password: text })}
        />
        <SelectField
          label="Account type"
          hint="Guests see only their own account, viewers read, developers train, admins may do everything."
          options={accountTypes.map((type) => [type, type] as const)}
          value={fields.account_type}
          onChoose={(account_type) => setFields({ ...fields, account_type })}
        />
      </Form>
    </Dialog>
  );
}

/** What an account of a type may do. */
const typeTexts: Readonly<Record<AccountType, string>> = {
  guest: 'sees only the own account',
  viewer: 'reads',
  developer: 'trains',
  admin: 'may do everything',
};

function UserTable({
  users,
  onChange,
  onBudget,
  onLeave,
}: {
  users: readonly User[];
  onChange: () => Promise<void>;
  onBudget: (user: User) => void;
  onLeave: (user: User) => void;
}) {
  const isNarrow = useNarrow();
  const typeField = ({ user_id, username, account_type }: User) => (
    <select
      class="narrow"
      aria-label={`Account type of ${username}`}
      value={account_type}
      onChange={({ currentTarget }) =>
        void attempt(() => setType(user_id, typeOf(currentTarget.value)), 'The account type is changed').then(
          onChange,
        )
      }
    >
      {accountTypes.map((type) => (
        <option key={type}>{type}</option>
      ))}
    </select>
  );
  return (
    <Listing
      label="Users"
      headings={[
        plural(users.length, 'user'),
        ...(isNarrow ? [] : ['Account type']),
        { name: 'Since', class: 'right only-wide' },
        hiddenHeading('Actions'),
      ]}
    >
      {users.map((user) => (
        <tr key={user.user_id}>
          <th scope="row">
            <span class="with-picture">
              <Picture username={user.username} size={24} />
              <bdi>{user.username}</bdi>
              {user.username === person.value?.username && <span class="chip">you</span>}
            </span>
            {isNarrow && <span class="also">{typeField(user)}</span>}
          </th>
          {!isNarrow && (
            <td>
              {typeField(user)} <span class="soft only-wide">{typeTexts[user.account_type]}</span>
            </td>
          )}
          <td class="right number soft only-wide">
            <Ago time={user.created_at} />
          </td>
          <td class="right">
            <Button kind="quiet" onClick={() => onBudget(user)}>
              Budget
            </Button>
            <Button
              kind="quiet"
              icon="trash"
              label={`Delete ${user.username}`}
              onClick={() => onLeave(user)}
            />
          </td>
        </tr>
      ))}
    </Listing>
  );
}

/** Page of all users, for admins. */
export function UsersPage() {
  const live = useLive('users', loadUsers);
  const [isNew, setNew] = useState(false);
  const [leaving, setLeaving] = useState<User>();
  const [budgeted, setBudgeted] = useState<User>();
  if (person.value?.account_type !== 'admin')
    return (
      <>
        <PageHead title="Users" />
        <Empty title="Only admins manage users" icon="people" />
      </>
    );
  return (
    <>
      <PageHead title="Users">
        <Button kind="primary" icon="plus" onClick={() => setNew(true)}>
          New user
        </Button>
      </PageHead>
      <Loaded live={live} what="The users could not be loaded">
        {(users) => (
          <UserTable users={users} onChange={live.refresh} onBudget={setBudgeted} onLeave={setLeaving} />
        )}
      </Loaded>
      {isNew && <NewUser onClose={() => setNew(false)} onDone={live.refresh} />}
      {budgeted !== undefined && (
        <Dialog title={`Budget of ${budgeted.username}`} onClose={() => setBudgeted(undefined)}>
          <UserBudget user_id={budgeted.user_id} />
        </Dialog>
      )}
      {leaving !== undefined && (
        <Confirm
          title="Delete this user?"
          action="Delete the user"
          onClose={() => setLeaving(undefined)}
          onConfirm={async () => {
            await removeUser(leaving.username);
            await live.refresh();
          }}
        >
          <p>
            <bdi>{leaving.username}</bdi> can no longer sign in. Their projects stay, without an owner.
          </p>
        </Confirm>
      )}
    </>
  );
}
