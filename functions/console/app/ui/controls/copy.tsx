import { useState } from 'preact/hooks';
import { Button } from './button.tsx';

export function Copy({ text, label = 'Copy' }: { text: string | (() => string); label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <Button
      kind="quiet"
      icon={isCopied ? 'check' : 'copy'}
      label={isCopied ? 'Copied' : label}
      onClick={copy}
    />
  );
}

/** Command with a copy button. */
export const Command = ({ children }: { children: string }) => (
  <div class="command">
    <pre tabIndex={0}>
      <code>{children}</code>
    </pre>
    <Copy text={children} label="Copy the command" />
  </div>
);
