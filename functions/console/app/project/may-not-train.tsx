import { LinkButton } from '../ui/controls/button.tsx';
import { Empty } from '../ui/states/empty.tsx';

/** Page for a user who opened the address of a form without the right to train. */
export const MayNotTrain = ({ back }: { back: string }) => (
  <Empty title="You may read this project, not train in it" icon="folder">
    <p>Its owner can give you the role developer, if your account type is developer.</p>
    <LinkButton href={back}>Back to the project</LinkButton>
  </Empty>
);
