import { loadOwnAccount } from '../api/people.ts';
import { person } from '../api/session.ts';
import { useLive } from '../api/use-live.ts';
import { href } from '../router.ts';
import { PageHead } from '../ui/page-head.tsx';
import { Empty, LinkButton } from '../ui/parts.tsx';

/** What a guest sees in every place but their account: that they are in, and who lets them see more. */
export function GuestPage() {
  // A change of the account ends the session, which asks them to sign in again.
  useLive('own-account', loadOwnAccount, { every: () => 10_000 });
  return (
    <>
      <PageHead title="Welcome" />
      <Empty title="You are signed in as a guest" icon="person">
        <p>
          Guests see only their own account. An admin can make <bdi>{person.value?.username}</bdi> a viewer,
          who sees projects, experiments and models, or a developer, who also trains.
        </p>
        <LinkButton href={href(['account'])} icon="person">
          Your account
        </LinkButton>
      </Empty>
    </>
  );
}
