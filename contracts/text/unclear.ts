/**
 * Stands for words of the user that nobody understood, though there was a voice: in their message, in the record, and for the
 * model.
 */
export const UNCLEAR = '(unclear)';
