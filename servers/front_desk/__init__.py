"""The desk to which an assistant hands over what a person has to decide. Used beside other servers, where a policy asks for it."""
