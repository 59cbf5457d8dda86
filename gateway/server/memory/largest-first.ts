/**
 * A binary heap whose members grow and shrink: the largest is found at once among thousands. Each member knows its own place.
 * Invariant: no member is larger than the one at half its place.
 */
export interface Sized {
  readonly bytes: number;
  /** Set by the heap. */
  place: number;
}

export class LargestFirst<Member extends Sized> {
  readonly #members: Member[] = [];

  get largest(): Member | undefined {
    return this.#members[0];
  }

  get size(): number {
    return this.#members.length;
  }

  add(member: Member): void {
    this.#put(member, this.#members.length);
    this.#rise(member);
  }

  remove(member: Member): void {
    const last = this.#members.pop();
    if (!last || last === member) return;
    this.#put(last, member.place);
    this.changed(last);
  }

  /** The member has another size now. */
  changed(member: Member): void {
    this.#rise(member);
    this.#sink(member);
  }

  #rise(member: Member): void {
    while (member.place > 0) {
      const above = this.#members[(member.place - 1) >> 1];
      if (!above || above.bytes >= member.bytes) return;
      this.#exchange(member, above);
    }
  }

  #sink(member: Member): void {
    for (;;) {
      const left = this.#members[2 * member.place + 1];
      const right = this.#members[2 * member.place + 2];
      const larger = right && left && right.bytes > left.bytes ? right : left;
      if (!larger || larger.bytes <= member.bytes) return;
      this.#exchange(member, larger);
    }
  }

  #exchange(one: Member, other: Member): void {
    const { place } = one;
    this.#put(one, other.place);
    this.#put(other, place);
  }

  #put(member: Member, place: number): void {
    member.place = place;
    this.#members[place] = member;
  }
}
