import { useEffect, useRef, useState } from 'preact/hooks';
import { pollNow } from '../api/poller.ts';
import { issuerSignIn, loadIssuerSignIn, person, signIn, signOut } from '../api/session.ts';
import { Button, LinkButton } from '../ui/controls/button.tsx';
import { Dialog } from '../ui/controls/dialog.tsx';
import { Form } from '../ui/controls/form.tsx';
import { TextField } from '../ui/controls/text-field.tsx';
import { usePageTitle } from '../ui/page-head.tsx';
import { place } from '../ui/router.ts';

function SignInForm({ name = '' }: { name?: string }) {
  const [username, setUsername] = useState(name);
  const [password, setPassword] = useState('');
  const submit = async () => {
    await signIn(username, password);
    pollNow();
  };
  return (
    <Form action="Sign in" onSubmit={submit}>
      <TextField
        label="User"
        name="username"
        autocomplete="username"
        autocapitalize="none"
        spellcheck={false}
        value={username}
        onText={setUsername}
      />
      <TextField
        label="Password"
        isPassword
        name="password"
        autocomplete="current-password"
        value={password}
        onText={setPassword}
      />
    </Form>
  );
}

/** What the page says after a sign-in at the issuer that failed. */
const outcomes: Readonly<Record<string, string>> = {
  again: 'The sign-in did not end. Start again.',
  'no-access': 'None of your groups has access. Ask an admin.',
};

/** Link to the sign-in at the issuer of the service, if it has one. */
function IssuerSignIn({ isNewTab = false }: { isNewTab?: boolean }) {
  useEffect(() => void loadIssuerSignIn().catch(() => undefined), []);
  const [room, outcome = ''] = place.value.parts;
  const failure = room === 'sign-in' ? outcomes[outcome] : undefined;
  const address = issuerSignIn.value;
  return (
    <>
      {failure !== undefined && <p role="alert">{failure}</p>}
      {typeof address === 'string' && (
        <LinkButton kind="primary" href={address} isNewTab={isNewTab}>
          Sign in with your organization
        </LinkButton>
      )}
    </>
  );
}

/** Sign-in page. */
export function SignInPage() {
  const main = useRef<HTMLElement>(null);
  usePageTitle('Sign in');
  // Browsers act on `autofocus` only once in a document, which a sign-out does not end.
  useEffect(() => main.current?.querySelector('input')?.focus(), []);
  return (
    <main class="sign-in" id="main" ref={main}>
      <div class="card">
        <svg width="44" height="44" viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="8" class="brand-ground" />
          <path d="M6.500 22.500l6-8.500 5 5 8.500-11.500" class="brand-line" />
        </svg>
        <h1>Model Project Service</h1>
        <p class="soft">Sign in to see projects, experiments and models.</p>
        <IssuerSignIn />
        <SignInForm />
        <p class="soft small">
          On your own machine, the first start created the user <code>admin</code>; its password is in{' '}
          <code>.data/admin-password</code>, or in the folder that <code>--data</code> names.
        </p>
      </div>
    </main>
  );
}

/** Sign-in dialog above the page after the session has expired. Text typed on the page is kept. */
export const SignInDialog = () => (
  <Dialog title="Your session has ended">
    <p class="soft">Sign in again to continue. Nothing on this page is lost.</p>
    <IssuerSignIn isNewTab />
    <SignInForm name={person.value?.username ?? ''} />
    <Button kind="quiet" onClick={signOut}>
      Sign out instead
    </Button>
  </Dialog>
);
