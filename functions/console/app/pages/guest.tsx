import { loadOwnAccount } from '../api/people.ts';
import { person } from '../api/session.ts';
import { useLive } from '../api/use-live.ts';
import { LinkButton } from '../ui/controls/button.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { href } from '../ui/router.ts';
import { Empty } from '../ui/states/empty.tsx';

/** Page that a guest sees everywhere except in the account. It explains who can give access. */
export function GuestPage() {
  // A change of the account ends the session, so this request makes the user sign in again.
  useLive('own-account', loadOwnAccount, { every: () => 10_000 });
  return (
    <>
      <PageHead title="Welcome" />
      <Empty title="You are signed in as a guest" icon="person">
        <p>
          Guests see only their own account. An admin can make <bdi>{person.value?.username}</bdi> a viewer,
          who sees projects, experiments and models, or a developer, who can also train.
        </p>
        <LinkButton href={href(['account'])} icon="person">
          Your account
        </LinkButton>
      </Empty>
    </>
  );
}
