/** The beginnings of tags, as parsers of HTML read them: `3 < x` and `<3` have none. */
export const tagStart = /<(?=[a-z/!?])/gi;
export const hasMarkup = (text: string): boolean => text.search(tagStart) >= 0;
