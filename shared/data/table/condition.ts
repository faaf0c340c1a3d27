/**
 * Condition of a write on a stored item. All given members must hold. A missing attribute never satisfies
 * `equals`, `above`, `below` or `oneOf`.
 */
export interface Condition {
  exists?: boolean;
  equals?: Readonly<Record<string, Scalar>>;
  differs?: Readonly<Record<string, Scalar>>;
  above?: Readonly<Record<string, number | string>>;
  below?: Readonly<Record<string, number | string>>;
  atMost?: Readonly<Record<string, number | string>>;
  atLeast?: Readonly<Record<string, number | string>>;
  oneOf?: Readonly<Record<string, readonly Scalar[]>>;
  absent?: readonly string[];
  /** At least one of these conditions must hold. */
  any?: readonly Condition[];
}

type Scalar = string | number | boolean;

/** Changes of single attributes. DynamoDB applies them atomically. */
export interface Change {
  set?: Readonly<Record<string, unknown>>;
  add?: Readonly<Record<string, number>>;
  remove?: readonly string[];
}

/** Builder of DynamoDB expressions. It uses placeholders for every attribute name and value, never their text. */
export class Expression {
  readonly #names = new Map<string, string>();
  readonly #values = new Map<string, unknown>();

  name(attribute: string): string {
    let placeholder = this.#names.get(attribute);
    if (placeholder === undefined) {
      placeholder = `#n${this.#names.size}`;
      this.#names.set(attribute, placeholder);
    }
    return placeholder;
  }

  value(value: unknown): string {
    const placeholder = `:v${this.#values.size}`;
    this.#values.set(placeholder, value);
    return placeholder;
  }

  condition(condition: Condition): string {
    const compare = (operator: string, members: Readonly<Record<string, unknown>> = {}): string[] =>
      Object.entries(members).map(([name, value]) => `${this.name(name)} ${operator} ${this.value(value)}`);
    const parts = [
      ...(condition.exists === undefined
        ? []
        : [`${condition.exists ? 'attribute_exists' : 'attribute_not_exists'}(${this.name('pk')})`]),
      ...compare('=', condition.equals),
      ...compare('<>', condition.differs),
      ...compare('>', condition.above),
      ...compare('<', condition.below),
      ...compare('<=', condition.atMost),
      ...compare('>=', condition.atLeast),
      ...Object.entries(condition.oneOf ?? {}).map(
        ([name, values]) => `${this.name(name)} IN (${values.map((value) => this.value(value)).join(', ')})`,
      ),
      ...(condition.absent ?? []).map((name) => `attribute_not_exists(${this.name(name)})`),
      ...(condition.any === undefined
        ? []
        : [`(${condition.any.map((one) => this.condition(one)).join(' OR ')})`]),
    ];
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : `(${parts.join(' AND ')})`;
  }

  change(change: Change): string {
    const set = Object.entries(change.set ?? {}).filter(([, value]) => value !== undefined);
    const add = Object.entries(change.add ?? {});
    const remove = change.remove ?? [];
    return [
      set.length > 0
        ? `SET ${set.map(([name, value]) => `${this.name(name)} = ${this.value(value)}`).join(', ')}`
        : '',
      add.length > 0
        ? `ADD ${add.map(([name, value]) => `${this.name(name)} ${this.value(value)}`).join(', ')}`
        : '',
      remove.length > 0 ? `REMOVE ${remove.map((name) => this.name(name)).join(', ')}` : '',
    ]
      .filter((part) => part !== '')
      .join(' ');
  }

  /** Return the placeholder members of an SDK request. Omit empty members, because DynamoDB refuses them. */
  placeholders(): {
    ExpressionAttributeNames?: Record<string, string>;
    ExpressionAttributeValues?: Record<string, unknown>;
  } {
    return {
      ...(this.#names.size > 0 && {
        ExpressionAttributeNames: Object.fromEntries(
          [...this.#names].map(([name, placeholder]) => [placeholder, name]),
        ),
      }),
      ...(this.#values.size > 0 && { ExpressionAttributeValues: Object.fromEntries(this.#values) }),
    };
  }
}
