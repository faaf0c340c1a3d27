import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from '../icon.tsx';

type Children = { children?: ComponentChildren };

export interface ButtonProps extends Children {
  onClick?: () => unknown;
  kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  icon?: IconName;
  disabled?: boolean | undefined;
  type?: 'button' | 'submit';
  label?: string;
  pressed?: boolean;
  expanded?: boolean;
  /** Key that presses it anywhere on the page, of `shell/keys.tsx`. */
  shortcut?: string;
}

export function Button({
  kind = 'plain',
  icon,
  label,
  type = 'button',
  pressed,
  expanded,
  shortcut,
  ...rest
}: ButtonProps) {
  const { children, onClick, disabled } = rest;
  return (
    <button
      type={type}
      class={`button ${kind}${children === undefined ? ' bare' : ''}`}
      disabled={disabled}
      onClick={onClick && (() => void onClick())}
      {...(label !== undefined && { 'aria-label': label, title: label })}
      {...(pressed !== undefined && { 'aria-pressed': pressed })}
      {...(expanded !== undefined && { 'aria-expanded': expanded })}
      {...(shortcut !== undefined && { 'data-key': shortcut })}
    >
      {icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}

export const LinkButton = ({
  href,
  icon,
  kind = 'plain',
  isNewTab = false,
  children,
}: { href: string; icon?: IconName; kind?: string; isNewTab?: boolean } & Children) => (
  <a class={`button ${kind}`} href={href} {...(isNewTab && { target: '_blank', rel: 'noreferrer' })}>
    {icon && <Icon name={icon} />}
    <span>{children}</span>
  </a>
);
