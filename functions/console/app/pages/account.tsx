import { useEffect, useState } from 'preact/hooks';
import { dollarsText } from '../../../../shared/core/text/amounts.ts';
import { type TokenRight, tokenRights } from '../../../../shared/data/accounts/token-rights.ts';
import {
  addToken,
  endAllSessions,
  endSession,
  linkAccount,
  loadSessions,
  loadTokens,
  type NewToken,
  removePicture,
  removeToken,
  setPassword,
  setPicture,
  type Token,
} from '../api/people.ts';
import { issuerSignIn, leave, loadIssuerSignIn, person, signIn, signOut } from '../api/session.ts';
import { useLive } from '../api/use-live.ts';
import { ProjectField } from '../runs/project-field.tsx';
import { ThemeSwitch } from '../theme/theme-switch.tsx';
import { AskingButton } from '../ui/controls/asking-button.tsx';
import { Button } from '../ui/controls/button.tsx';
import { Command } from '../ui/controls/copy.tsx';
import { SelectField } from '../ui/controls/field.tsx';
import { Form } from '../ui/controls/form.tsx';
import { TextField } from '../ui/controls/text-field.tsx';
import { UploadField } from '../ui/controls/upload-field.tsx';
import { leaveEdits } from '../ui/edits.ts';
import { PageHead } from '../ui/page-head.tsx';
import { forgetPicture, isUploaded, Picture } from '../ui/picture.tsx';
import { place } from '../ui/router.ts';
import { useShowMore } from '../ui/show-more.tsx';
import { Loaded } from '../ui/states/loaded.tsx';
import { tell } from '../ui/states/notice.tsx';
import { Ago } from '../ui/text/ago.tsx';
import { timeText } from '../ui/text/format.ts';

const day = 86_400;
const lives: readonly (readonly [seconds: string, name: string])[] = [
  [String(7 * day), 'a week'],
  [String(30 * day), 'a month'],
  [String(90 * day), 'three months'],
  [String(365 * day), 'a year'],
];

/** What the rights of a token allow, in words. */
const mayDo: Readonly<Record<TokenRight, string>> = {
  read: 'read',
  record: 'read and record',
  run: 'read, record and run',
};

const reachText = (projects: readonly string[] | null): string => {
  if (projects === null) return 'all projects';
  return projects.length === 1 ? 'one project' : `${projects.length} projects`;
};

const maxTokens = 8;

/** Valid tokens: those with a name first, because their owner made them to stay. */
function TokenList({ tokens, onChange }: { tokens: readonly Token[]; onChange: () => Promise<void> }) {
  const [shown, more] = useShowMore(
    [...tokens.filter(({ name }) => name !== null), ...tokens.filter(({ name }) => name === null)],
    maxTokens,
    'tokens',
  );
  return (
    <>
      <table class="data">
        <tbody>
          {shown.map((token) => (
            <tr key={token.token_id}>
              <th scope="row">
                <bdi>{token.name ?? `sign-in of ${token.program ?? 'a program'}`}</bdi>{' '}
                {token.current && <span class="chip">this one</span>}
                <span class="soft small also">
                  made <Ago time={token.created_at} />
                  {token.address !== null && ` from ${token.address}`}, until {timeText(token.expires_at)}
                </span>
                {token.scope !== null && (
                  <span class="soft small also">
                    may {mayDo[token.scope.rights]} in {reachText(token.scope.projects)}
                    {token.budget !== null &&
                      `, ${dollarsText(token.charged ?? 0)} of ${dollarsText(token.budget)} charged`}
                  </span>
                )}
              </th>
              <td class="right">
                {!token.current && (
                  <AskingButton
                    kind="quiet"
                    icon="close"
                    label={`Revoke ${token.name ?? 'the sign-in'}`}
                    title="Revoke this token?"
                    action="Revoke the token"
                    question={
                      <>
                        Whatever uses <bdi>{token.name ?? 'this sign-in of a program'}</bdi> will be refused
                        from now on. This cannot be undone.
                      </>
                    }
                    onConfirm={async () => {
                      await removeToken(token.token_id);
                      tell('The token is revoked');
                      await onChange();
                    }}
                  />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {more !== null && <p class="after">{more}</p>}
    </>
  );
}

function Tokens() {
  const live = useLive('tokens', loadTokens);
  const [made, setMade] = useState<NewToken>();
  const [name, setName] = useState('');
  const [seconds, setSeconds] = useState(30 * day);
  const [rights, setRights] = useState<TokenRight>();
  const [project_id, setProject] = useState('');
  const [budget, setBudget] = useState('');
  return (
    <section class="panel">
      <h2>Tokens</h2>
      {made !== undefined && (
        <div class="secret" role="status">
          <p class="small">
            The token <strong>{made.name}</strong>. It is not shown again:
          </p>
          <Command>{made.access_token}</Command>
        </div>
      )}
      <Loaded live={live} rows={2} what="The tokens could not be loaded">
        {(tokens) => <TokenList tokens={tokens} onChange={live.refresh} />}
      </Loaded>
      <Form
        action="Make a token"
        onSubmit={async () => {
          setMade(await addToken(name, seconds, rights && { rights, project_id, budget }));
          setName('');
          await live.refresh();
        }}
      >
        <div class="field-row">
          <TextField label="Name of a new token" placeholder="script" value={name} onText={setName} />
          <SelectField
            label="Expires after"
            options={lives}
            value={String(seconds)}
            onChoose={(value) => setSeconds(Number(value))}
          />
          <SelectField<TokenRight | ''>
            label="It may"
            options={[
              ['', 'do all that I may'],
              ...tokenRights.map((right) => [right, mayDo[right]] as const),
            ]}
            value={rights ?? ''}
            onChoose={(right) => setRights(right === '' ? undefined : right)}
          />
          {rights !== undefined && (
            <ProjectField label="In" none="all projects" value={project_id} onChoose={setProject} />
          )}
          {rights === 'run' && (
            <TextField
              label="Budget in US$"
              placeholder="none"
              inputMode="decimal"
              value={budget}
              onText={setBudget}
            />
          )}
        </div>
      </Form>
    </section>
  );
}

const maxSessions = 5;

/** List of signed-in browsers, each with its last use and a button to sign it out. This one comes first. */
function Sessions() {
  const live = useLive('sessions', loadSessions);
  const [sessions, more] = useShowMore(
    (live.data ?? []).toSorted((a, b) => Number(b.current) - Number(a.current)),
    maxSessions,
    'browsers',
  );
  return (
    <section class="panel">
      <h2>Signed-in browsers</h2>
      <Loaded live={live} rows={2} what="The sessions could not be loaded">
        {() => (
          <table class="data">
            <tbody>
              {sessions.map((session) => (
                <tr key={session.session_id}>
                  <th scope="row">
                    <bdi>{session.browser}</bdi> {session.current && <span class="chip">this one</span>}
                  </th>
                  <td class="soft number">{session.address}</td>
                  <td class="soft number">
                    <Ago time={session.last_used_at} />
                  </td>
                  <td class="right">
                    {!session.current && (
                      <AskingButton
                        kind="quiet"
                        icon="close"
                        label={`Sign out ${session.browser}`}
                        title="Sign out this browser?"
                        action="Sign it out"
                        question={
                          <>
                            <bdi>{session.browser}</bdi> will ask for the password at its next use.
                          </>
                        }
                        onConfirm={async () => {
                          await endSession(session.session_id);
                          tell('The browser is signed out');
                          await live.refresh();
                        }}
                      />
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Loaded>
      {more !== null && <p class="after">{more}</p>}
      <div class="bar-row after">
        <AskingButton
          kind="quiet"
          icon="out"
          title="Sign out everywhere?"
          action="Sign out all of them"
          question="This browser asks for the password now, and your other browsers at their next use. Tokens of programs stay valid."
          onConfirm={() => endAllSessions().then(leave)}
        >
          Sign out everywhere
        </AskingButton>
      </div>
    </section>
  );
}

/** Link to the issuer of the service, if it has one. */
function Organization() {
  useEffect(() => void loadIssuerSignIn().catch(() => undefined), []);
  if (typeof issuerSignIn.value !== 'string') return null;
  const outcome = place.value.query.get('link');
  return (
    <section class="panel">
      <h2>Organization</h2>
      <p class="soft">Sign in there once, and your account there opens this one from then on.</p>
      {outcome === 'linked' && <p role="status">Your account is linked.</p>}
      {outcome === 'taken' && <p role="alert">That person has another account here.</p>}
      <Button
        onClick={async () => {
          location.href = (await linkAccount()).location;
        }}
      >
        Link my account
      </Button>
    </section>
  );
}

function Password({ username }: { username: string }) {
  const [present, setPresent] = useState('');
  const [wanted, setWanted] = useState('');
  return (
    <section class="panel">
      <h2>Password</h2>
      <Form
        action="Change the password"
        onSubmit={async () => {
          await setPassword(username, wanted, present);
          // A new password revokes all earlier tokens, including this page's, so sign in again.
          await signIn(username, wanted);
          setPresent('');
          setWanted('');
          tell('The password is changed; other sign-ins have ended');
        }}
      >
        <TextField
          label="Current password"
          isPassword
          autocomplete="current-password"
          value={present}
          onText={setPresent}
        />
        <TextField
          label="New password"
          hint="At least 8 characters."
          isPassword
          autocomplete="new-password"
          value={wanted}
          onText={setWanted}
        />
      </Form>
    </section>
  );
}

/** The user's account: picture, password and tokens. */
export function AccountPage() {
  const who = person.value;
  if (who === undefined) return null;
  const { username, account_type } = who;
  return (
    <>
      <PageHead title="Account">
        <Button icon="out" onClick={() => leaveEdits(() => void signOut())}>
          Sign out
        </Button>
      </PageHead>
      <div class="halves">
        <div>
          <section class="panel">
            <div class="account-head">
              <Picture username={username} size={72} />
              <div>
                <strong>
                  <bdi>{username}</bdi>
                </strong>
                <p class="soft small">{account_type}</p>
              </div>
            </div>
            <UploadField
              label="Choose a picture, or drop it here"
              hint="PNG, JPEG, WebP or GIF, at most 4 MiB"
              accept="image/png,image/jpeg,image/webp,image/gif"
              onFile={async (file) => {
                await setPicture(username, file);
                forgetPicture(username);
              }}
            />
            {isUploaded(username) && (
              <div class="bar-row after">
                <AskingButton
                  kind="quiet"
                  title="Remove your picture?"
                  action="Remove the picture"
                  question="The picture generated from your name is shown instead. This cannot be undone."
                  onConfirm={async () => {
                    await removePicture(username);
                    forgetPicture(username);
                  }}
                >
                  Remove the picture
                </AskingButton>
              </div>
            )}
          </section>
          <section class="panel">
            <div class="panel-head">
              <h2>Theme</h2>
              <ThemeSwitch />
            </div>
          </section>
          <Organization />
          <Password username={username} />
        </div>
        <div>
          <Sessions />
          <Tokens />
        </div>
      </div>
    </>
  );
}
