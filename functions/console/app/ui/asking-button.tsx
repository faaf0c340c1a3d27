import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button, type ButtonProps, Confirm } from './parts.tsx';

/** A button for what takes something from somebody: it asks first, and says what is lost. */
export function AskingButton({
  title,
  action,
  onConfirm,
  question,
  ...button
}: Omit<ButtonProps, 'onClick'> & {
  /** The question, in the head of the dialog. */
  title: string;
  /** What the button of the dialog says. */
  action: string;
  /** What is lost. */
  question: ComponentChildren;
  onConfirm: () => Promise<unknown>;
}) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button {...button} onClick={() => setAsking(true)} />
      {isAsking && (
        <Confirm title={title} action={action} onConfirm={onConfirm} onClose={() => setAsking(false)}>
          <p>{question}</p>
        </Confirm>
      )}
    </>
  );
}
