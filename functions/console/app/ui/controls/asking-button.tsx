import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button, type ButtonProps } from './button.tsx';
import { Confirm } from './dialog.tsx';

/** Button for a destructive action. It asks for confirmation and names the loss. */
export function AskingButton({
  title,
  action,
  onConfirm,
  question,
  ...button
}: Omit<ButtonProps, 'onClick'> & {
  /** Head of the dialog: the question. */
  title: string;
  /** Text of the dialog's button. */
  action: string;
  /** Explanation of the loss. */
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
